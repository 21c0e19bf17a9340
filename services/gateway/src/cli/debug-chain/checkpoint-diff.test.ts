import { expect, test } from '@jest/globals';
import type { TraceDetail } from '@vitrine/traces/trace';
import { diffCheckpoints } from './read-chain.ts';

const trace = (fields: Partial<TraceDetail>): TraceDetail => ({
  id: '1'.repeat(32),
  timestamp: '2026-01-01T00:00:00.000Z',
  created_at: '2026-01-01T00:00:01.000Z',
  provider: 'openai',
  model: 'gpt-4o',
  request_method: 'POST',
  request_path: '/openai/v1/chat/completions',
  response_status: 200,
  outcome: 'completed',
  input_tokens: 10,
  output_tokens: 5,
  total_tokens: 15,
  usage_status: 'reported',
  latency_ms: 100,
  time_to_first_token_ms: 0,
  time_to_first_token_us: 0,
  estimated_cost_usd: 0.5,
  cost_status: 'priced',
  request_headers: { a: ['1'] },
  response_headers: {},
  metadata: { streaming: false, gone: 1, counts: { header: 1 } },
  ...fields,
});

const SAME = {
  provider_changed: false,
  model_changed: false,
  request_method_changed: false,
  request_path_changed: false,
  response_status_changed: false,
  input_tokens_delta: 0,
  output_tokens_delta: 0,
  total_tokens_delta: 0,
  latency_delta_ms: 0,
  estimated_cost_delta_usd: 0,
  request_headers_changed: false,
  response_headers_changed: false,
  request_body_changed: false,
  response_body_changed: false,
  request_headers_bytes_from: 11,
  request_headers_bytes_to: 11,
  response_headers_bytes_from: 2,
  response_headers_bytes_to: 2,
  request_body_bytes_from: 0,
  request_body_bytes_to: 0,
  response_body_bytes_from: 0,
  response_body_bytes_to: 0,
};

test('equal fields count as unchanged', () => {
  const to = '2'.repeat(32);
  expect(diffCheckpoints(trace({}), trace({ id: to }))).toEqual({
    from_checkpoint_id: '1'.repeat(32),
    to_checkpoint_id: to,
    ...SAME,
  });
});

test.each<[string, Partial<TraceDetail>, object]>([
  ['another provider and model', { provider: 'anthropic', model: 'm' }, { provider_changed: true, model_changed: true }],
  ['another method', { request_method: 'GET' }, { request_method_changed: true }],
  ['another path', { request_path: '/x' }, { request_path_changed: true }],
  ['another status', { response_status: 500 }, { response_status_changed: true }],
  [
    'more input and less output',
    { input_tokens: 12, output_tokens: 4, total_tokens: 16 },
    { input_tokens_delta: 2, output_tokens_delta: -1, total_tokens_delta: 1 },
  ],
  [
    'another time and price',
    { latency_ms: 70, estimated_cost_usd: 0.75 },
    { latency_delta_ms: -30, estimated_cost_delta_usd: 0.25 },
  ],
  [
    'a price without the noise of doubles',
    { latency_ms: 100, estimated_cost_usd: 0.5000041 },
    { estimated_cost_delta_usd: 0.0000041 },
  ],
  [
    'headers, with their bytes',
    { request_headers: { a: ['ü'] }, response_headers: { b: [] } },
    {
      request_headers_changed: true,
      request_headers_bytes_to: 12,
      response_headers_changed: true,
      response_headers_bytes_to: 8,
    },
  ],
  [
    'bodies, with their bytes',
    { request_body: 'ü', response_body: 'ab' },
    { request_body_changed: true, request_body_bytes_to: 2, response_body_changed: true, response_body_bytes_to: 2 },
  ],
  [
    'keys of the metadata',
    { metadata: { streaming: true, counts: { header: 1 }, fresh: 1, another: 1 } },
    { metadata_keys_added: ['another', 'fresh'], metadata_keys_removed: ['gone'], metadata_keys_changed: ['streaming'] },
  ],
])('%s', (_name, fields, expected) => {
  const { from_checkpoint_id: _from, to_checkpoint_id: _to, ...diff } = diffCheckpoints(trace({}), trace(fields));
  expect(diff).toEqual({ ...SAME, ...expected });
});
