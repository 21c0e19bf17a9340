import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import fc from 'fast-check';
import { join } from 'node:path';
import { readReplay } from '@vitrine/traces/replay';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { SqliteTraceReader } from './sqlite-trace-reader.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
beforeAll(async () => {
  folder = await temporaryFolder('ancestors');
});
afterAll(async () => folder[Symbol.asyncDispose]());

const T0 = Date.UTC(2026, 0, 5);
const hex = (id: Uint8Array) => Buffer.from(id).toString('hex');
const TENANTS = ['one', 'two'].map((org_id) => ({ org_id, workspace_id: 'w' }));

/** A store whose reader is called like in the gateway. */
function open(path: string) {
  const writer = new SqliteTraceWriter(path);
  const reader = new SqliteTraceReader(path);
  return {
    writer,
    reader,
    store: {
      checkpoints: async (query: Parameters<typeof reader.checkpoints>[0]) => reader.checkpoints(query),
      ancestors: async (query: Parameters<typeof reader.ancestors>[0]) => reader.ancestors(query),
    },
    [Symbol.dispose]() {
      reader[Symbol.dispose]();
      writer[Symbol.dispose]();
    },
  };
}

/** For each trace: its tenant, and the index of its claimed parent; -1 for none, and an index out of range for a missing one. */
const forest = fc.array(fc.record({ tenant: fc.nat(1), parent: fc.integer({ min: -1, max: 14 }) }), {
  minLength: 1,
  maxLength: 12,
});

test('ancestors equal a plain walk, also with cycles, foreign tenants and missing parents', () => {
  fc.assert(
    fc.property(
      forest,
      fc.nat(11),
      fc.integer({ min: 1, max: 15 }),
      fc.constantFrom(undefined, 0, 1),
      (traces, start, limit, tenant) => {
        using file = open(join(folder.path, `${(files += 1)}.db`));
        const made = traces.map((_, i) => plainTrace(T0 + i));
        const idOf = (i: number) => (made[i] === undefined ? `made-up-${i}` : hex(made[i].id));
        const records = made.map((record, i) => {
          const { tenant: whose = 0, parent = -1 } = traces[i] ?? {};
          const { org_id, workspace_id } = TENANTS[whose]!;
          return {
            ...record,
            scope: { org_id, workspace_id, gateway_key_id: 'k', role: 'member' },
            lineage: parent === -1 ? {} : { parent_checkpoint_id: idOf(parent) },
          };
        });
        file.writer.write(records);
        const expected: string[] = [];
        for (let at = start % traces.length; ;) {
          const trace = traces[at];
          if (trace === undefined || expected.includes(idOf(at)) || expected.length === limit) break;
          if (tenant !== undefined && trace.tenant !== tenant) break;
          expected.push(idOf(at));
          at = trace.parent;
        }
        const query = { id: idOf(start % traces.length), limit, tenant: tenant === undefined ? undefined : TENANTS[tenant] };
        expect(file.reader.ancestors(query).map(({ id }) => id)).toEqual(expected);
      },
    ),
    { numRuns: 50 },
  );
});

test('a replay ends and contains each checkpoint once, for any claims of clients', async () => {
  const claim = fc.record({
    parent: fc.integer({ min: -1, max: 12 }),
    group: fc.constantFrom(undefined, undefined, 'g', 'h'),
    label: fc.boolean(),
    thread: fc.constantFrom(undefined, 't', 'u'),
    run: fc.constantFrom(undefined, 'r', 's', 'q'),
    seq: fc.option(fc.nat(5), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(claim, { minLength: 1, maxLength: 10 }), fc.integer({ min: 1, max: 12 }), async (claims, limit) => {
      using file = open(join(folder.path, `${(files += 1)}.db`));
      const made = claims.map((_, i) => plainTrace(T0 + i));
      const records = made.map((record, i) => {
        const { parent = -1, group, label = false, thread, run, seq } = claims[i] ?? {};
        const fallback = group === undefined && label;
        return {
          ...record,
          lineage: {
            ...(fallback ? { trace_group_id: `${i}`.padStart(32, 'a'), group_fallback: true } : {}),
            ...(group === undefined ? {} : { trace_group_id: group }),
            ...(thread === undefined ? {} : { thread_id: thread }),
            ...(run === undefined ? {} : { run_id: run }),
            ...(seq === undefined ? {} : { checkpoint_seq: seq }),
            ...(parent === -1 ? {} : { parent_checkpoint_id: made[parent] === undefined ? 'x' : hex(made[parent].id) }),
          },
        };
      });
      file.writer.write(records);
      for (const { id } of made) {
        const source = file.reader.get(hex(id))!;
        const asked = { source, target: source, threadId: undefined, runId: undefined, tenant: undefined };
        const whole = (await readReplay(file.store, { ...asked, limit: 500 }))!;
        const ids = whole.checkpoints.map((one) => one.id);
        expect(new Set(ids).size).toBe(ids.length);
        expect([ids.at(-1), whole.truncated]).toEqual([source.id, false]);
        // Each is after its parent, unless there is a cycle.
        const isLine = claims.every(({ parent }, i) => parent < i || parent >= claims.length);
        for (const one of isLine ? whole.checkpoints : []) {
          const parent = ids.indexOf(one.lineage.parent_checkpoint_id ?? '');
          expect(parent).toBeLessThan(ids.indexOf(one.id));
        }
        const cut = (await readReplay(file.store, { ...asked, limit }))!;
        expect(cut.checkpoints.length).toBeLessThanOrEqual(limit);
        expect(cut.checkpoints.at(-1)?.id).toBe(source.id);
        // In a cycle, the checkpoints before the target depend on how much of the run was read.
        if (isLine && ids.length > limit) expect(cut.truncated).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
});
