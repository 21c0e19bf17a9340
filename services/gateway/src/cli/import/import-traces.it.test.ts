import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { codeOf } from '@vitrine/faults/fault';
import { OngoingaiStore, goTime, type OngoingaiRow } from '@vitrine/testkit/ongoingai-store';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { lockFile } from '@vitrine/sqlite/file-lock';
import { measuresIn } from '@vitrine/trace-store-sqlite/measure-table';
import { SqliteTraceReader } from '@vitrine/trace-store-sqlite/sqlite-trace-reader';
import { SqliteTraceWriter } from '@vitrine/trace-store-sqlite/sqlite-trace-writer';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { readCursor } from '@vitrine/traces/trace-store';
import type { TraceDetail, TraceSummary } from '@vitrine/traces/trace';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { gatewayCommandLine } from '../registry.ts';
import { readGatewayConfig } from '../../config.ts';
import { privacyRules } from '../../proxy/privacy/pii-config.ts';
import type { ImportReport } from '@vitrine/ongoingai-import/import-report';
import { openImportTarget } from '@vitrine/ongoingai-import/import-target';
import { importTraces, isProven, newTraceId } from '@vitrine/ongoingai-import/import-traces';
import { OldTraces } from '@vitrine/ongoingai-import/old-traces';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder('import');
});
afterAll(async () => folder[Symbol.asyncDispose]());
let from: string;
let into: string;
beforeEach(async () => {
  const cwd = join(folder.path, crypto.randomUUID());
  await mkdir(cwd);
  from = join(cwd, 'ongoingai.db');
  into = join(cwd, 'store', 'traces.db');
});

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.now();
const SECRET = 'sk-proj-canary0123456789';
const idOf = (n: number) => n.toString(16).padStart(32, '0');

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, stopped = new Promise<string>(() => {})) {
  const untilSignal = () => stopped;
  const result = await runCaptured(gatewayCommandLine, ['import', ...args], {
    env: { SVC_STORAGE_PATH: into, ...env },
    untilSignal,
  });
  expect(result.stdout).not.toContain(SECRET);
  return result;
}
const report = async (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) => {
  const { code, stdout } = await run(['--from', from, '--format', 'json', ...args], env);
  return { code, ...(JSON.parse(stdout) as ImportReport) };
};

/** Creates the old file and keeps it open, as the running old gateway does. */
function old(...rows: OngoingaiRow[]): OngoingaiStore {
  const store = new OngoingaiStore(from);
  store.add(rows);
  return store;
}
const many = (count: number, fields: (n: number) => Partial<OngoingaiRow> = () => ({})): OngoingaiRow[] =>
  Array.from({ length: count }, (_, n) => ({ id: idOf(n), completedAt: NOW - DAY + n, ...fields(n) }));

/** Every trace of the store, newest first, in pages as the API reads them. */
function stored(): TraceSummary[] {
  using reader = new SqliteTraceReader(into);
  const all: TraceSummary[] = [];
  for (let after: Uint8Array | undefined; ;) {
    const page = reader.list({ limit: 200, after });
    all.push(...page.items);
    if (page.next_cursor === undefined) return all;
    after = readCursor(page.next_cursor);
  }
}
function details(): TraceDetail[] {
  const items = stored();
  using reader = new SqliteTraceReader(into);
  return items.map(({ id }) => reader.get(id) as TraceDetail);
}
/** The new ids of old rows, newest first. */
const newIds = (rows: readonly OngoingaiRow[]) =>
  rows
    .map(({ id, completedAt, nanoseconds = 0 }) => Buffer.from(newTraceId(id, { ms: completedAt, nanoseconds })).toString('hex'))
    .toSorted()
    .toReversed();

describe('a trace of the old gateway', () => {
  test('keeps times, tokens, cost, tenant, key, lineage and metadata', async () => {
    using _ = old({
      id: idOf(7),
      completedAt: NOW - HOUR,
      nanoseconds: 123_456,
      columns: {
        trace_group_id: 'group-1',
        org_id: 'acme',
        workspace_id: 'search',
        gateway_key_id: 'gk_0123456789abcdef',
        provider: 'anthropic',
        model: 'claude-sonnet-4-latest',
        request_path: '/anthropic/v1/messages',
        response_status: 200,
        input_tokens: 100,
        output_tokens: 20,
        total_tokens: 120,
        latency_ms: 1_500,
        time_to_first_token_us: 321_000,
        estimated_cost_usd: 0.0125,
        response_headers: '{"Content-Type":["text/event-stream"],"Request-Id":["req_1","req_2"]}',
      },
      metadata: {
        streaming: true,
        stream_chunks: 9,
        correlation_id: 'corr-1',
        api_key_last4: 'abcd',
        gateway_key_id: 'gk_0123456789abcdef',
        team: 'search-team',
        role: 'developer',
        lineage_thread_id: 'thread-1',
        lineage_run_id: 'run-1',
        lineage_checkpoint_seq: 3,
        redaction_mode: 'redact_storage',
        redaction_counts: { header: 2, email: 1 },
      },
    });
    expect(await report()).toMatchObject({ code: 0, source_rows: 1, read: 1, imported: 1, proven: true, complete: true });
    const [trace] = details();
    expect(trace).toEqual({
      id: trace?.id,
      timestamp: new Date(NOW - HOUR - 1_500).toISOString(),
      created_at: new Date(NOW - HOUR).toISOString(),
      provider: 'anthropic',
      model: 'claude-sonnet-4-latest',
      request_method: 'POST',
      request_path: '/anthropic/v1/messages',
      response_status: 200,
      outcome: 'completed',
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      usage_status: 'reported',
      latency_ms: 1_500,
      time_to_first_token_ms: 321,
      time_to_first_token_us: 321_000,
      api_key_hash: 'ab'.repeat(32),
      estimated_cost_usd: 0.0125,
      cost_status: 'priced',
      cost_upper_usd: 0.0125,
      trace_group_id: 'group-1',
      lineage: {
        group_id: 'group-1',
        thread_id: 'thread-1',
        run_id: 'run-1',
        checkpoint_id: trace?.id,
        checkpoint_seq: 3,
        immutable: true,
      },
      request_headers: { authorization: ['[REDACTED]'], 'content-type': ['application/json'] },
      response_headers: { 'content-type': ['text/event-stream'], 'request-id': ['req_1', 'req_2'] },
      metadata: expect.objectContaining({
        org_id: 'acme',
        workspace_id: 'search',
        gateway_key_id: 'gk_0123456789abcdef',
        role: 'developer',
        streaming: true,
        stream_chunks: 9,
        correlation_id: 'corr-1',
        api_key_last4: 'abcd',
        team: 'search-team',
        price_source: 'ongoingai',
        imported_from: 'ongoingai',
        imported_from_id: idOf(7),
        imported_redaction_mode: 'redact_storage',
        redaction_mode: 'off',
        redaction_counts: { header: 2, email: 1, phone: 0, ssn: 0, token_like: 0, field_name: 0 },
        lineage_thread_id: 'thread-1',
      }),
    });
  });

  test.each([
    ['a cost', { estimated_cost_usd: 0.5 }, 'priced', 'ongoingai'],
    ['tokens without a cost', { estimated_cost_usd: 0 }, 'unpriced', undefined],
    [
      'neither, refused',
      { estimated_cost_usd: 0, input_tokens: 0, output_tokens: 0, total_tokens: 0, response_status: 401 },
      'free',
      undefined,
    ],
    ['neither', { estimated_cost_usd: 0, input_tokens: 0, output_tokens: 0, total_tokens: 0 }, 'unpriced', undefined],
    [
      'neither, read',
      { estimated_cost_usd: null, total_tokens: 0, input_tokens: null, output_tokens: null, request_method: 'GET' },
      'free',
      undefined,
    ],
  ])('with %s states whether its cost is known, and who estimated it', async (_, columns, status, source) => {
    using _old = old({ id: idOf(1), completedAt: NOW, columns });
    await report();
    const [trace] = details();
    expect([trace?.cost_status, trace?.metadata['price_source']]).toEqual([status, source]);
    expect(trace?.usage_status).toBe((trace?.total_tokens ?? 0) > 0 ? 'reported' : 'missing');
  });

  test('contains no secret in any field', async () => {
    using _ = old({
      id: idOf(1),
      completedAt: NOW,
      columns: {
        model: `m-${SECRET}`,
        request_path: `/openai/v1/x?api_key=hunter2&k=${SECRET}`,
        request_headers: JSON.stringify({
          'Api-Key': ['hunter2'],
          'X-Other': [`Bearer ${SECRET}`],
          'X-Team-Key': ['hunter2'],
          'X-OngoingAI-Gateway-Key': ['hunter2'],
        }),
        request_body: JSON.stringify({ password: 'hunter2', text: SECRET, email: 'a@example.com' }),
        response_body: `data: {"x":"${SECRET}"}\n\n`,
        response_headers: '{"Content-Type":["text/event-stream"]}',
        org_id: SECRET,
      },
      metadata: { correlation_id: SECRET, team: SECRET, lineage_thread_id: SECRET },
    });
    const env = { SVC_AUTH_HEADER: 'X-Team-Key', SVC_TRACING_CAPTURE_BODIES: 'true' };
    expect(await report([], env)).toMatchObject({ code: 0, imported: 1 });
    const text = JSON.stringify(details());
    expect(text).not.toMatch(/hunter2|canary0123456789|a@example\.com/);
    expect(details()[0]?.metadata['redaction_counts']).toMatchObject({ header: 4, email: 0, field_name: 2 });
  });

  test('has its bodies when capture is on: text, compressed, binary and too long', async () => {
    const json = { 'Content-Type': ['application/json'] };
    const body = JSON.stringify({ text: Array.from({ length: 60 }, (_, n) => `line ${n * 7_919}`).join(' ') });
    const gzip = { response_headers: JSON.stringify({ ...json, 'Content-Encoding': ['gzip'] }) };
    using _ = old(
      { id: idOf(1), completedAt: NOW - 5, columns: { request_body: body, response_body: '{"ok":true}' } },
      { id: idOf(2), completedAt: NOW - 4, columns: { response_body: gzipSync(body), ...gzip } },
      { id: idOf(3), completedAt: NOW - 3, columns: { response_body: gzipSync(body).subarray(0, 120), ...gzip } },
      { id: idOf(4), completedAt: NOW - 2, columns: { response_body: Buffer.from([0xff, 0xfe, 0]) } },
      { id: idOf(5), completedAt: NOW - 1, columns: { response_body: 'x y '.repeat(1_000) } },
    );
    const env = { SVC_TRACING_CAPTURE_BODIES: 'true', SVC_TRACING_BODY_MAX_SIZE: '1000', SVC_PII_MODE: 'off' };
    expect(await report([], env)).toMatchObject({ code: 0, imported: 5, without_bodies: 0 });
    const [long, binary, cut, packed, plain] = details();
    expect([plain?.request_body, plain?.response_body]).toEqual([body, '{"ok":true}']);
    expect(packed?.response_body).toBe(body);
    expect(body.startsWith(cut?.response_body ?? 'nothing')).toBe(true);
    expect(cut?.metadata['response_body_truncated']).toBe(true);
    expect([binary?.response_body, binary?.metadata['response_body_encoding']]).toEqual(['//4A', 'base64']);
    expect([long?.response_body?.length, long?.metadata['response_body_truncated']]).toEqual([1_000, true]);
    expect([plain?.metadata['response_body_truncated'], packed?.metadata['response_body_truncated']]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('is imported without bodies when bodies are not captured, with a note', async () => {
    using _ = old({ id: idOf(1), completedAt: NOW, columns: { request_body: '{}' } }, { id: idOf(2), completedAt: NOW });
    const { stdout } = await run(['--from', from]);
    expect(stdout).toMatch(/Imported without bodies: 1, because tracing\.capture_bodies/);
    expect(details().some((trace) => 'request_body' in trace)).toBe(false);
  });

  test('is a checkpoint of its conversation: its parent is the trace with the old id', async () => {
    const lineage = (n: number, parent?: string) => ({
      id: idOf(n),
      completedAt: NOW - 100 + n,
      columns: { trace_group_id: 'g' },
      metadata: { lineage_checkpoint_seq: n, ...(parent === undefined ? {} : { lineage_parent_checkpoint_id: parent }) },
    });
    // The last two are in reverse order in the file.
    using _ = old(
      lineage(1),
      lineage(2, idOf(1)),
      lineage(3, idOf(2)),
      lineage(4, 'not-a-trace'),
      lineage(5, 'not an id'),
      lineage(7, idOf(6)),
      lineage(6),
    );
    await report();
    const byOldId = new Map(details().map((trace) => [trace.metadata['imported_from_id'], trace]));
    const parentOf = (n: number) => byOldId.get(idOf(n))?.lineage?.parent_checkpoint_id;
    expect([1, 2, 3, 4, 5, 7].map(parentOf)).toEqual([
      undefined,
      byOldId.get(idOf(1))?.id,
      byOldId.get(idOf(2))?.id,
      'not-a-trace',
      undefined,
      byOldId.get(idOf(6))?.id,
    ]);
    expect(byOldId.get(idOf(5))?.metadata['lineage_ignored']).toBe(1);
    using reader = new SqliteTraceReader(into);
    expect(reader.checkpoints({ trace_group_id: 'g', limit: 10 }).map(({ lineage: { checkpoint_seq: seq } }) => seq)).toEqual([
      7, 6, 5, 4, 3, 2, 1,
    ]);
  });
});

describe('the complete file', () => {
  test('is imported once, and counted against its rows', async () => {
    const rows = many(5_000, (n) => ({ nanoseconds: (n * 7_919) % 1_000_000 }));
    using source = old(...rows);
    expect(await report()).toMatchObject({ code: 0, source_rows: 5_000, read: 5_000, imported: 5_000, proven: true, failed: {} });
    expect(stored().map(({ id }) => id)).toEqual(newIds(rows));
    expect(await report()).toMatchObject({ code: 0, source_rows: 5_000, imported: 0, already_there: 5_000, proven: true });
    source.add([{ id: idOf(9_999), completedAt: NOW }]);
    expect(await report()).toMatchObject({ code: 0, source_rows: 5_001, imported: 1, already_there: 5_000 });
    expect(stored()).toHaveLength(5_001);
    using reader = new SqliteTraceReader(into);
    const shown = stored()
      .slice(0, 3)
      .map(({ id }) => reader.get(id)?.metadata['imported_from_id']);
    expect(shown).toEqual([idOf(9_999), idOf(4_999), idOf(4_998)]);
  });

  test('is sorted by time among newer and older traces, in every list and sum', async () => {
    using _ = old(...many(3_000, (n) => ({ completedAt: NOW - 20 * DAY + n * 500_000, columns: { latency_ms: n % 900 } })));
    await mkdir(join(into, '..'));
    const live = Array.from({ length: 300 }, (_, n) =>
      plainTrace(NOW - 22 * DAY + n * 7 * 900_000, { lineage: { thread_id: 't' } }),
    );
    const write = (writer: SqliteTraceWriter, records: typeof live) => writer.write(records);
    {
      using writer = new SqliteTraceWriter(into);
      write(writer, live.slice(0, 100));
      write(writer, live.slice(100, 200));
    }
    expect(await report()).toMatchObject({ code: 0, imported: 3_000 });
    {
      using writer = new SqliteTraceWriter(into);
      write(writer, live.slice(200));
      expect(writer.traceCount).toBe(3_300);
    }
    const all = stored();
    expect(all).toHaveLength(3_300);
    expect(all.map(({ created_at }) => created_at)).toEqual(
      all
        .map(({ created_at }) => created_at)
        .toSorted()
        .toReversed(),
    );
    using reader = new SqliteTraceReader(into);
    const sum = (of: TraceSummary[]) => of.reduce((total, { total_tokens }) => total + total_tokens, 0);
    for (const [first, last] of [
      [25, 0],
      [18.3, 12.1],
      [19.01, 18.99],
      [21.5, 20.2],
    ] as const) {
      const [from, to] = [Math.round(NOW - first * DAY), Math.round(NOW - last * DAY)];
      const within = all.filter(({ timestamp }) => Date.parse(timestamp) >= from && Date.parse(timestamp) <= to);
      const measures = measuresIn(reader.measure({ from, to })!);
      expect(measures.map(({ requests, totalTokens }) => [requests, totalTokens])).toEqual([[within.length, sum(within)]]);
      expect(reader.list({ from, to, limit: 200 }).items).toEqual(within.slice(0, 200));
    }
    expect(reader.list({ thread_id: 't', limit: 200 }).items).toHaveLength(200);
    const models = reader.list({ model: 'gpt-4o-mini', limit: 3 }).items;
    expect(models).toEqual(all.filter(({ model }) => model === 'gpt-4o-mini').slice(0, 3));
  });

  test('is read while the old gateway writes', async () => {
    using source = old(...many(100));
    // An uncommitted write blocks nobody and is not visible.
    using writing = new DatabaseSync(from);
    writing.exec(
      "BEGIN IMMEDIATE; INSERT INTO traces (id, timestamp, provider, model, request_method, request_path) VALUES ('x', '', '', '', '', '')",
    );
    expect(await report()).toMatchObject({ code: 0, source_rows: 100, imported: 100, proven: true });
    writing.exec('ROLLBACK');
    expect(source.count).toBe(100);
  });

  test('of the first version, which had fewer columns', async () => {
    using source = new OngoingaiStore(from, { withKeyId: false });
    source.add(many(3, () => ({ metadata: { gateway_key_id: 'gk_old', role: 'member' } })));
    expect(await report()).toMatchObject({ code: 0, imported: 3 });
    expect(details().map(({ metadata }) => metadata['gateway_key_id'])).toEqual(['gk_old', 'gk_old', 'gk_old']);
  });

  test('traces older than the retention are skipped and counted', async () => {
    using _ = old(...many(10, (n) => ({ completedAt: NOW - n * 10 * DAY })));
    expect(await report()).toMatchObject({ code: 0, read: 10, imported: 3, too_old: 7, proven: true });
    expect((await run(['--from', from])).stdout).toMatch(/older than tracing\.retention_days \(30\) +7\n/);
    expect(await report([], { SVC_TRACING_RETENTION_DAYS: '365' })).toMatchObject({ imported: 7, already_there: 3, too_old: 0 });
  });

  test('an unreadable row fails alone and is listed', async () => {
    const bad = (n: number, columns: Readonly<Record<string, string | number | null>>) => ({
      id: idOf(n),
      completedAt: NOW,
      columns,
    });
    using _ = old(
      ...many(3),
      bad(10, { timestamp: 'never', created_at: 'never' }),
      bad(11, { response_status: null }),
      bad(12, { id: null }),
      bad(13, { created_at: null }),
      bad(14, { latency_ms: -5, input_tokens: 2 ** 60, request_headers: 'no JSON', metadata: '[1]', api_key_hash: 'short' }),
    );
    expect(await report()).toMatchObject({
      code: 1,
      read: 8,
      imported: 5,
      failed: { 'unreadable time': 1, 'unreadable status': 1, 'no id': 1 },
      failed_examples: [
        { id: idOf(10), cause: 'unreadable time' },
        { id: idOf(11), cause: 'unreadable status' },
        { id: 'row 6', cause: 'no id' },
      ],
      proven: true,
    });
    expect((await run(['--from', from])).stdout).toContain(`${idOf(10)}: unreadable time`);
  });
});

describe('an interrupted import', () => {
  const privacy = privacyRules(readGatewayConfig(undefined, {}).pii, false);
  /** A run that reads or writes at most this many pages. */
  const runSome = async ({ pages = Infinity, writes = Infinity }) => {
    using source = new OldTraces(from, 1_000);
    using target = openImportTarget(into);
    let left = pages;
    let writesLeft = writes;
    return await importTraces({
      source,
      target: {
        has: (id) => target.has(id),
        write: (records) => {
          if ((writesLeft -= 1) < 0) throw new Error('pulled the plug');
          return target.write(records);
        },
      },
      tools: {
        policy: { captureBodies: false, bodyMaxSize: 1_000, privacy },
        privacy: openPrivacyContext(privacy),
        keyHeader: 'x',
      },
      oldestMs: 0,
      onProgress: () => (left -= 1),
      isStopped: () => left <= 0,
    });
  };

  test('continues from any row: no trace twice, none missing', async () => {
    const rows = many(9_000);
    using _ = old(...rows);
    for (const [pages, imported, already] of [
      [1, 2_048, 0],
      [3, 4_096, 2_048],
      [2, 0, 4_096],
    ] as const) {
      const counts = await runSome({ pages });
      expect(counts).toMatchObject({
        imported,
        already_there: already,
        read: imported + already,
        source_rows: 9_000,
        complete: false,
      });
      expect(isProven(counts)).toBe(false);
    }
    await expect(runSome({ writes: 0 })).rejects.toThrow('pulled the plug');
    await expect(runSome({ writes: 1 })).rejects.toThrow('pulled the plug');
    expect(stored()).toHaveLength(8_192);
    const counts = await runSome({});
    expect(counts).toMatchObject({ imported: 808, already_there: 8_192, read: 9_000, source_rows: 9_000, complete: true });
    expect(isProven(counts)).toBe(true);
    expect(stored().map(({ id }) => id)).toEqual(newIds(rows));
  });

  test('a signal ends it after the current page, with a message and exit code 1', async () => {
    using _ = old(...many(3_000));
    const { code, stdout } = await run(['--from', from], {}, Promise.resolve('SIGINT'));
    expect([code, stored().length]).toEqual([1, 2_048]);
    expect(stdout).toContain('Stopped before the end: the same command continues from here.');
    expect(await report()).toMatchObject({ code: 0, imported: 952, already_there: 2_048, proven: true });
  });

  test('a store that cannot be written ends it, with the count so far', async () => {
    using _ = old(...many(10));
    await mkdir(join(into, '..'));
    new SqliteTraceWriter(into)[Symbol.dispose]();
    {
      using database = new DatabaseSync(into);
      database.exec("CREATE TRIGGER full BEFORE INSERT ON traces BEGIN SELECT RAISE(ABORT, 'full'); END");
    }
    await expect(run(['--from', from])).rejects.toThrow(/traces cannot be written \(constraint\); 0 were imported/);
    using database = new DatabaseSync(into);
    database.exec('DROP TRIGGER full');
    expect(await report()).toMatchObject({ code: 0, imported: 10 });
  });
});

describe('gateway import', () => {
  test('--dry-run counts and writes nothing, also beside a running gateway', async () => {
    using _ = old(...many(50));
    expect(await report(['--dry-run'])).toMatchObject({ code: 0, dry_run: true, imported: 50, proven: true });
    expect(existsSync(into)).toBe(false);
    await report();
    using _lock = lockFile(into);
    expect(await report(['--dry-run'])).toMatchObject({ imported: 0, already_there: 50 });
    expect((await run(['--from', from, '--dry-run'])).stdout).toContain('Nothing was written (--dry-run)');
  });

  test('a store that is locked by a running gateway is rejected with the next step', async () => {
    using _ = old(...many(1));
    await mkdir(join(into, '..'));
    using _lock = lockFile(into);
    await expect(run(['--from', from])).rejects.toMatchObject({
      code: 'storage_locked',
      say: `${into} is in use by another process: stop the gateway, import, and start it again`,
    });
  });

  test.each([
    ['nothing', () => join(folder.path, 'nothing.db'), 'it does not exist'],
    ['a folder', () => folder.path, ''],
    ['a file that is no database', () => import.meta.filename, 'file is not a database'],
    ['traces of this gateway', () => into, 'it contains no traces of ongoingai/gateway'],
  ])('refuses %s as its source', async (_, path, why) => {
    await mkdir(join(into, '..'));
    new SqliteTraceWriter(into)[Symbol.dispose]();
    const refused = await run(['--from', path()]).catch((error: unknown) => error);
    expect(codeOf(refused)).toBe('import_source_unusable');
    expect((refused as Error).message).toContain(why);
  });

  test('rejects the old file as its target', async () => {
    using source = old(...many(1));
    await expect(run(['--from', from], { SVC_STORAGE_PATH: from })).rejects.toThrow(
      'contains the traces of ongoingai/gateway: configure another file',
    );
    expect(source.count).toBe(1);
  });

  test('needs a file', async () => {
    expect(await run([])).toMatchObject({ code: 2, stderr: expect.stringContaining('--from is required') });
  });

  test('prints a summary as text', async () => {
    using _ = old(...many(5), { id: idOf(77), completedAt: NOW - 90 * DAY });
    const { code, stdout, stderr } = await run(['--from', from]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      new RegExp(
        `^Imported into ${into}: 6 rows in [0-9.]+ s, \\d+ per second\\.\n\nTRACES +COUNT\nimported +5\nalready imported +0\nolder than .* +1\nread +6\nrows of ${from} +6\n`,
      ),
    );
  });
});

test('the time of an old row is parsed as its driver writes it', () => {
  expect(goTime(Date.UTC(2026, 1, 12, 15, 4, 5, 120), 0)).toBe('2026-02-12 15:04:05.12 +0000 UTC');
});
