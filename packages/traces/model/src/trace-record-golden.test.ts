import { describe, expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { changedFiles } from '@vitrine/testkit/shipped-files';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anyTraceRecord } from './testing/any-trace-record.ts';
import { encodeTraceRecord } from './encode-trace-record.ts';
import { TEXT_START } from './record-texts.ts';
import { RECORD_VERSION } from './trace-fields.ts';
import { decodeTraceRecord, OLDEST_RECORD_VERSION } from './trace-record-codec.ts';
import type { TraceRecord } from './trace-record.ts';

const FOLDER = join(import.meta.dirname, 'testdata');
const VERSIONS = Array.from({ length: RECORD_VERSION - OLDEST_RECORD_VERSION + 1 }, (_, i) => OLDEST_RECORD_VERSION + i);
const fileOf = (version: number) => `trace-records-${version}.txt`;
/** One record per line. The file of a version never changes, and later versions have to read it. */
const GOLDEN = join(FOLDER, fileOf(RECORD_VERSION));

const PLAIN: TraceRecord = {
  id: new Uint8Array(16).fill(0xa1),
  scope: { org_id: '', workspace_id: '', gateway_key_id: '', role: '' },
  timestamp: Date.UTC(2026, 0, 5),
  created_at: Date.UTC(2026, 0, 5) + 1_234,
  provider: 'unknown',
  model: 'unknown',
  request_method: 'GET',
  request_path: '/openai/v1/models',
  response_status: 401,
  outcome: 'rejected',
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  usage_status: 'missing',
  latency_ms: 1,
  time_to_first_token_us: 0,
  api_key_hash: undefined,
  estimated_cost_usd: 0,
  cost_status: 'free',
  lineage: {},
  request_headers: '',
  response_headers: '',
  request_body: undefined,
  response_body: undefined,
  metadata: '{}',
};
/** Every field, so that a field added without a new RECORD_VERSION is detected. */
const FULL: Required<TraceRecord> = {
  id: new Uint8Array(16).fill(0xb2),
  scope: { org_id: 'org_1', workspace_id: 'ws_1', gateway_key_id: 'gk_1', role: 'developer' },
  timestamp: Date.UTC(2026, 0, 5),
  created_at: Date.UTC(2026, 0, 5) + 1_234,
  provider: 'anthropic',
  model: 'claude-sonnet-4',
  request_method: 'POST',
  request_path: '/anthropic/v1/messages?beta=true',
  response_status: 200,
  outcome: 'completed',
  input_tokens: 1_000,
  output_tokens: 20,
  total_tokens: 1_020,
  usage_status: 'reported',
  latency_ms: 1_234,
  time_to_first_token_us: 90_009,
  api_key_hash: new Uint8Array(32).fill(0xc3),
  estimated_cost_usd: 1.5e-7,
  cost_status: 'priced',
  cost_upper_usd: 2.5e-7,
  response_model: 'claude-haiku-4-5',
  upper_tokens: 1_200,
  lineage: {
    trace_group_id: '0af7651916cd43dd8448eb211c80319c',
    group_fallback: true,
    thread_id: 'thread',
    run_id: 'run',
    parent_checkpoint_id: 'a1'.repeat(16),
    checkpoint_seq: 3,
  },
  request_headers: 'content-type\napplication/json',
  response_headers: 'content-type\ntext/event-stream',
  request_body: '{"prompt":"Grüße 👋\\u0000"}',
  response_body: '',
  metadata: '{"streaming":true}',
  background: { role: 'created', response: 'd4'.repeat(32) },
  batch_files: [{ batch: 'e5'.repeat(32), file: 'f6'.repeat(32) }],
};
const RECORDS = [PLAIN, FULL];
/** The fields that each version after the first added, of which the files of the versions before have none: `4: ['the_field']`. */
const ADDED: Readonly<Record<number, readonly (keyof TraceRecord)[]>> = {
  4: ['cost_upper_usd', 'response_model', 'upper_tokens', 'batch_files'],
};
const recordsOf = (version: number) => {
  const added = VERSIONS.filter((one) => one > version).flatMap((one) => ADDED[one] ?? []);
  return RECORDS.map((record) => ({ ...record, ...Object.fromEntries(added.map((field) => [field, undefined])) }));
};
const linesOf = (text: string) => text.trimEnd().split('\n');

test('testdata contains records encoded by this version; npm run golden writes them', () => {
  const text = RECORDS.map((record) => `${encodeTraceRecord(record)}\n`).join('');
  expect(text).toBe(goldenText(GOLDEN, text));
});

test('the records of a version do not change once they are in testdata/SHA256SUMS', () => {
  const remedy = 'raise RECORD_VERSION of trace-fields.ts';
  expect(changedFiles(join(FOLDER, 'SHA256SUMS'), VERSIONS.map(fileOf), remedy)).toEqual([]);
});

test.each(VERSIONS)('records of version %i are read', (version) => {
  const lines = linesOf(readFileSync(join(FOLDER, fileOf(version)), 'utf8'));
  expect(lines.map((line) => decodeTraceRecord(Buffer.from(line)))).toEqual(recordsOf(version));
});

test('ADDED has what every version after the first added', () => {
  expect(Object.keys(ADDED)).toEqual(VERSIONS.slice(1).map(String));
});

test('every record is read as it was written, and is one line without tabs, which tools for text can copy', () => {
  fc.assert(
    fc.property(anyTraceRecord, (record) => {
      const encoded = encodeTraceRecord(record);
      expect(decodeTraceRecord(Buffer.from(encoded))).toEqual(record);
      expect(encoded).not.toMatch(/[\n\r\t]/);
    }),
  );
});

describe('a record of another program', () => {
  const [head = '', ...texts] = encodeTraceRecord(FULL).split(TEXT_START);
  const encoded = (changes: Record<string, unknown>, after: readonly string[] = texts) =>
    Buffer.from([JSON.stringify({ ...(JSON.parse(head) as object), ...changes }), ...after].join(TEXT_START));
  const errorOf = (bytes: Uint8Array) => {
    try {
      return decodeTraceRecord(bytes);
    } catch (error) {
      return error;
    }
  };

  test('of the next version is read without its added fields', () => {
    const { scope, lineage } = FULL;
    const added = { added: { any: 1 }, scope: { ...scope, added: 1 }, lineage: { ...lineage, added: 1 } };
    const names = ['added_text', ...(JSON.parse(head) as { readonly texts: readonly string[] }).texts];
    expect(decodeTraceRecord(encoded({ version: RECORD_VERSION + 1, ...added, texts: names }, ['added', ...texts]))).toEqual(
      FULL,
    );
  });

  test.each([[0], [OLDEST_RECORD_VERSION - 1], [RECORD_VERSION + 2], [-1], [1_000]])('of version %j is a fault', (version) => {
    expect(codeOf(errorOf(encoded({ version })))).toBe('unknown_record_version');
  });

  test.each([
    ['nothing', new Uint8Array()],
    ['no JSON', Buffer.from('sk-canary0123456789')],
    ['half of a record', encoded({}).subarray(0, 200)],
    ['bytes that are no UTF-8', Buffer.concat([encoded({}), new Uint8Array([0xff])])],
    ['another value', Buffer.from('[1]')],
    ['no version', encoded({ version: undefined })],
    ['a version that is no number', encoded({ version: '1' })],
    ['an unknown outcome', encoded({ outcome: 'sk-canary0123456789' })],
    ['no model', encoded({ model: undefined })],
    ['a cost that is null', encoded({ estimated_cost_usd: null })],
    ['a short id', encoded({ id: 'a1' })],
    ['a scope that is text', encoded({ scope: 'sk-canary0123456789' })],
    ['fewer texts than it names', encoded({}, texts.slice(1))],
    ['more texts than it names', encoded({}, ['sk-canary0123456789', ...texts])],
    ['texts without names', encoded({ texts: undefined })],
    ['names that are no texts', encoded({ texts: [1, 2, 3] })],
    ['no metadata', encoded({ texts: ['request_body', 'response_body'] }, texts.slice(0, 2))],
  ])('that is %s is a fault without data of the record', (_, bytes) => {
    const error = errorOf(bytes);
    expect([codeOf(error), messageOf(error).includes('canary')]).toEqual(['malformed_record', false]);
  });
});
