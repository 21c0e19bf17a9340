import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import fc from 'fast-check';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { readCursor, type TraceQuery } from '@vitrine/traces/trace-store';
import { SqliteTraceReader } from './sqlite-trace-reader.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

// Whatever was written, merged, removed and opened again, whoever asks for the traces of a conversation gets all of them.

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder('lineage');
});
afterAll(async () => folder[Symbol.asyncDispose]());

const T0 = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const SCOPES = ['one', 'two'].map((workspace_id) => ({ org_id: 'o', workspace_id, gateway_key_id: 'gk_1', role: 'member' }));

/** Traces of the same millisecond, of a moment, and of times far apart. */
const moment = fc.tuple(fc.nat(3), fc.constantFrom(1, 30, HOUR)).map(([count, step]) => T0 + count * step);
/** Ids of one kind are ids of another, too. */
const lineageId = fc.constantFrom(undefined, undefined, 'a', 'b', 'c'.repeat(128));
const ids = fc.record({ trace_group_id: lineageId, thread_id: lineageId, run_id: lineageId });
const trace = fc.record({
  createdAt: moment,
  lineage: ids,
  scope: fc.constantFrom(...SCOPES),
  status: fc.constantFrom(200, 200, 500),
});
type RandomTrace = typeof trace extends fc.Arbitrary<infer T> ? T : never;

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ write: fc.array(trace, { minLength: 1, maxLength: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ removeBefore: moment }) },
  { weight: 1, arbitrary: fc.constantFrom('reopen' as const, 'fill' as const) },
);
/** So many traces of no lineage that those of some are far apart, and are sought one by one. */
const filling = () => Array.from({ length: 300 }, (_, i) => plainTrace(T0 + (i * 3 * HOUR) / 300));

const isOfLineage = ({ trace_group_id, thread_id, run_id }: TraceQuery) => (trace_group_id ?? thread_id ?? run_id) !== undefined;
const query: fc.Arbitrary<TraceQuery> = fc
  .record({
    trace_group_id: fc.constantFrom(undefined, 'a', 'b'),
    thread_id: fc.constantFrom(undefined, undefined, 'a', 'nobody'),
    run_id: fc.constantFrom(undefined, undefined, 'b', 'c'.repeat(128)),
    tenant: fc.constantFrom(undefined, { org_id: 'o', workspace_id: 'two' }),
    status: fc.constantFrom(undefined, undefined, 500),
    from: fc.option(moment, { nil: undefined, freq: 2 }),
    to: fc.option(moment, { nil: undefined, freq: 2 }),
    limit: fc.integer({ min: 1, max: 9 }),
  })
  .filter(isOfLineage);

const hexOf = (id: Uint8Array) => Buffer.from(id).toString('hex');
const given = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function recordOf({ createdAt, lineage, scope, status }: RandomTrace): TraceRecord {
  return plainTrace(createdAt, { lineage: given(lineage), scope, response_status: status });
}

/** What the store has to answer: ids, the newest first. */
function scanned(records: readonly TraceRecord[], asked: TraceQuery): string[] {
  const isSought = ({ lineage, scope, response_status: status, timestamp }: TraceRecord) =>
    (['trace_group_id', 'thread_id', 'run_id'] as const).every((id) => asked[id] === undefined || asked[id] === lineage[id]) &&
    (asked.tenant === undefined || scope === SCOPES[1]) &&
    (asked.status === undefined || asked.status === status) &&
    timestamp >= (asked.from ?? 0) &&
    timestamp <= (asked.to ?? Infinity);
  const found = records.filter(isSought).map(({ id }) => hexOf(id));
  return found.toSorted().toReversed();
}

function listed(reader: SqliteTraceReader, asked: TraceQuery): string[] {
  const found: string[] = [];
  let after: Uint8Array | undefined;
  do {
    const { items, next_cursor: next } = reader.list({ ...asked, after });
    found.push(...items.map(({ id }) => id));
    after = next === undefined ? undefined : readCursor(next);
  } while (after !== undefined);
  return found;
}

test('lists, checkpoints and tenants of a lineage equal a plain scan', () => {
  let files = 0;
  const run = (steps: (typeof step extends fc.Arbitrary<infer T> ? T : never)[], queries: TraceQuery[], journal: number) => {
    const path = join(folder.path, `${(files += 1)}.db`);
    const open = () => new SqliteTraceWriter(path, { traces: journal, batches: 3 });
    let writer = open();
    let kept: TraceRecord[] = [];
    for (const one of steps) {
      if (one === 'reopen') {
        writer[Symbol.dispose]();
        writer = open();
      } else if (one === 'fill' || 'write' in one) {
        const records = one === 'fill' ? filling() : one.write.map(recordOf);
        writer.write({ count: records.length, records: () => records });
        kept.push(...records);
      } else {
        writer.removeOlderThan(one.removeBefore);
        kept = kept.filter(({ created_at: createdAt }) => createdAt >= one.removeBefore);
      }
    }
    using reader = new SqliteTraceReader(path);
    for (const asked of queries) {
      expect(listed(reader, asked)).toEqual(scanned(kept, asked));
      const { trace_group_id, thread_id, run_id, tenant, limit } = asked;
      const ids = { trace_group_id, thread_id, run_id };
      const scope = { ...ids, tenant, limit };
      expect(reader.checkpoints(scope).map(({ id }) => id)).toEqual(scanned(kept, scope).slice(0, limit));
      const whose = SCOPES.filter(
        (scope) =>
          scanned(
            kept.filter((record) => record.scope === scope),
            { ...ids, limit },
          ).length > 0,
      );
      expect(reader.tenantsWith(ids)).toEqual(whose.map(({ org_id, workspace_id }) => ({ org_id, workspace_id })));
    }
    writer[Symbol.dispose]();
  };
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 16 }),
      fc.array(query, { minLength: 10, maxLength: 10 }),
      // From a segment for every batch to a journal that is never added.
      fc.constantFrom(1, 8, 30, 1_000),
      run,
    ),
    { numRuns: 120, endOnFailure: true },
  );
});

test('what is known of lineages goes with the last of their traces', () => {
  const path = join(folder.path, 'removed.db');
  using writer = new SqliteTraceWriter(path, { traces: 2, batches: 1 });
  for (const thread_id of ['a', 'b', 'c', 'd'])
    writer.write({ count: 1, records: () => [plainTrace(T0 + thread_id.charCodeAt(0), { lineage: { thread_id } })] });
  using database = new DatabaseSync(path);
  const rows = () =>
    ['lineage_segments', 'lineages'].map((table) => database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']);
  expect(rows()).toEqual([2, 4]);
  writer.removeOlderThan(T0 + 'b'.charCodeAt(0));
  expect(rows()).toEqual([2, 4]);
  writer.removeOlderThan(T0 + 'c'.charCodeAt(0));
  expect(rows()).toEqual([1, 2]);
});

test('an id is added to a segment once, however many batches come after', () => {
  const path = join(folder.path, 'once.db');
  const at = (createdAt: number) => [plainTrace(createdAt, { lineage: { trace_group_id: 'a' } })];
  {
    // Every batch is added to the segments at once.
    using writer = new SqliteTraceWriter(path, { traces: 1, batches: 1 });
    for (let i = 0; i < 5; i += 1) writer.write({ count: 1, records: () => at(T0 + i) });
  }
  using database = new DatabaseSync(path, { readOnly: true });
  const { bytes } = database.prepare('SELECT sum(length(entries)) AS bytes FROM lineages').get() as { bytes: number };
  expect(bytes).toBe(5 * 2 * Float64Array.BYTES_PER_ELEMENT);
});
