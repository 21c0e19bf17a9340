import { describe, expect, test } from '@jest/globals';
import { encodeTraceRecord } from '@vitrine/traces/encode-trace-record';
import type { FailureClass, RecordResult, RecordWriter } from '@vitrine/traces/record-writer';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { createRecordHandler, type WrittenBatch } from './record-handler.ts';

const NOW = Date.UTC(2026, 10, 1);
const consumed = (value: Buffer | null, offset = 0) => ({
  topic: 'vitrine.traces',
  partition: 0,
  offset: String(offset),
  key: null,
  value,
  headers: {},
  timestamp: NOW,
});
const traces = (count: number) =>
  Array.from({ length: count }, (_, at) => consumed(Buffer.from(encodeTraceRecord(plainTrace(NOW))), at));
const failure = (errorClass: FailureClass, code = '') => ({
  operation: 'write_batch_fallback' as const,
  error_class: errorClass,
  error: { name: 'Error', message: `failed with ${code}`, code },
});

/** A writer with these results, and the records passed to it. */
function handlerOf(results: readonly RecordResult[] | Error) {
  const batches: WrittenBatch[] = [];
  let written = 0;
  const writer: RecordWriter = {
    write: (records) => {
      written += records.length;
      if (results instanceof Error) throw results;
      return results;
    },
  };
  return { handle: createRecordHandler(writer, (batch) => batches.push(batch)), batches, written: () => written };
}

describe('consumed records', () => {
  test('are written, and already stored ones count as duplicates', async () => {
    const { handle, batches } = handlerOf(['written', 'already_there', 'written']);
    expect(await handle(traces(3))).toEqual({ status: 'done', rejected: [] });
    expect(batches).toMatchObject([{ batchSize: 3, written: 2, duplicates: 1, failures: [] }]);
  });

  test('are rejected individually when they cannot be read, with a reason that repeats no content', async () => {
    const { handle, written } = handlerOf(['written']);
    const future = Buffer.from(JSON.stringify({ version: 99, secret: 'hunter2' }));
    const broken = Buffer.from('{"version":1,"secret":"hunter2"');
    const bad = [consumed(null), consumed(broken), consumed(future), consumed(Buffer.alloc(16_777_217))];
    const result = await handle([...bad, ...traces(1)]);
    const rejected = result.status === 'done' ? (result.rejected ?? []) : [];
    const classes = ['malformed_record', 'malformed_record', 'unknown_record_version', 'record_too_large'];
    expect(rejected.map(({ errorClass }) => errorClass)).toEqual(classes);
    expect(JSON.stringify(rejected.map(({ reason }) => reason))).not.toContain('hunter2');
    expect(written()).toBe(1);
  });

  test('are skipped when doctor has published them to check the topic', async () => {
    const { handle, written } = handlerOf(['written']);
    const check = { ...consumed(null), headers: { 'vitrine-check': 'doctor' } };
    expect(await handle([check, ...traces(1)])).toEqual({ status: 'done', rejected: [] });
    expect(written()).toBe(1);
  });

  test('that violate a constraint are rejected, and the others are written', async () => {
    const { handle } = handlerOf(['written', failure('constraint', '22003')]);
    const records = traces(2);
    const rejected = [{ record: records[1], errorClass: 'constraint', reason: 'failed with 22003' }];
    expect(await handle(records)).toEqual({ status: 'done', rejected });
  });

  test.each([
    ['connection', ''],
    ['timeout', '57014'],
    ['contention', '40P01'],
    ['unknown', '53100'],
    ['unknown', '25006'],
    ['unknown', '42P01'],
  ] as const)('wait when the store cannot take them: %s %s', async (errorClass, code) => {
    const { handle } = handlerOf(['written', failure(errorClass, code)]);
    expect(await handle(traces(2))).toEqual({ status: 'unavailable', errorClass, reason: `${errorClass}: failed with ${code}` });
  });

  test('are retried later when the writer cannot connect', async () => {
    const { handle, batches } = handlerOf(Object.assign(new Error('no route'), { code: 'ECONNREFUSED' }));
    expect(await handle(traces(2))).toEqual({ status: 'unavailable', errorClass: 'connection', reason: 'connection: no route' });
    expect(batches).toMatchObject([{ written: 0, failures: [{ error_class: 'connection' }, {}] }]);
  });

  test('that trigger a bug are left to the consumer, which isolates the cause', async () => {
    const { handle } = handlerOf(new TypeError('a bug'));
    await expect(handle(traces(2))).rejects.toThrow('a bug');
  });
});
