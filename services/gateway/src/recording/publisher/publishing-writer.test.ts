import { describe, expect, test } from '@jest/globals';
import type { KafkaRecord } from '@vitrine/kafka/kafka-record';
import type { WriteResult } from '@vitrine/kafka/spooling-publisher';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { decodeTraceRecord } from '@vitrine/traces/trace-record-codec';
import { PublishingWriter } from './publishing-writer.ts';

const NOW = Date.UTC(2026, 10, 1);
const MAX_BYTES = 4_000;
const LARGE = 'x'.repeat(MAX_BYTES);

/** A writer whose records get these results, and the published records. */
function writerOf(publish: (records: readonly KafkaRecord[]) => readonly WriteResult[] = (all) => all.map(() => 'published')) {
  const sent: TraceRecord[] = [];
  const writer = new PublishingWriter({
    publish: async (records) => {
      sent.push(...records.map(({ value }) => decodeTraceRecord(Buffer.from(value ?? ''))));
      return publish(records);
    },
    maxRecordBytes: MAX_BYTES,
  });
  const write = (...traces: TraceRecord[]) => writer.write(traces);
  return { write, sent, writer };
}
const failed = (error_class: string, code: string) =>
  expect.objectContaining({ operation: 'write_trace', error_class, error: expect.objectContaining({ code }) });

describe('publishing traces', () => {
  test('a record is kept when a broker or the spool accepts it under the id of the trace', async () => {
    const keys: unknown[] = [];
    const { write } = writerOf((records) => (keys.push(...records.map(({ key }) => key)), ['published', 'spooled']));
    const traces = [plainTrace(NOW), plainTrace(NOW)] as const;
    expect(await write(...traces)).toEqual(['written', 'written']);
    expect(keys).toEqual(traces.map(({ id }) => Buffer.from(id).toString('hex')));
  });

  test('a record that is too large is published without its bodies, marked as cut', async () => {
    const { write, sent, writer } = writerOf();
    const large = plainTrace(NOW, { request_body: 'hello', response_body: LARGE, metadata: '{"streaming":true}' });
    expect(await write(plainTrace(NOW), large)).toEqual(['written', 'written']);
    expect(sent[1]).toMatchObject({ id: large.id, request_body: '', response_body: '', total_tokens: 3 });
    const marks = { streaming: true, request_body_truncated: true, response_body_truncated: true };
    expect(JSON.parse(sent[1]?.metadata ?? '')).toEqual(marks);
    expect(writer.withoutBodies).toBe(1);
  });

  test('the same for one that only the topic refuses', async () => {
    const { write, sent } = writerOf((records) =>
      records.map(({ value }) => ((value?.length ?? 0) > 1_000 ? 'too_large' : 'published')),
    );
    const results = await write(plainTrace(NOW, { response_body: 'x'.repeat(1_000) }), plainTrace(NOW));
    expect(results).toEqual(['written', 'written']);
    expect(sent.map(({ response_body: body }) => body?.length)).toEqual([1_000, undefined, 0]);
  });

  test('one that is too large without its bodies is lost and counted, without affecting others', async () => {
    const { write, sent } = writerOf();
    const results = await write(plainTrace(NOW, { request_headers: LARGE, request_body: 'x' }), plainTrace(NOW));
    expect(results).toEqual([failed('constraint', 'record_too_large'), 'written']);
    expect(sent).toHaveLength(1);
  });

  test('a full spool drops records and reports the cause', async () => {
    const { write } = writerOf(() => ['spooled', 'spool_full', 'spool_failed']);
    const results = await write(plainTrace(NOW), plainTrace(NOW), plainTrace(NOW));
    expect(results).toEqual(['written', failed('connection', 'spool_full'), failed('unknown', 'spool_failed')]);
  });
});
