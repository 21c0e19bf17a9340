import { describe, expect, test } from '@jest/globals';
import { UPSTREAM_ERRORS } from '@vitrine/traces/upstream-error';
import type { CapturedExchange } from './captured-exchange.ts';
import { isFree } from './charging.ts';
import { plainExchange } from './testing/plain-exchange.ts';

const OPENAI_CHARGED = `
  /v1/chat/completions
  /v1/completions
  /v1/engines/davinci/completions
  /v1/responses
  /v1/responses/
  /v1/responses?include=usage
  /v1/responses/compact
  /v1/embeddings
  /v1/images/generations
  /v1/images/edits
  /v1/images/variations
  /v1/audio/transcriptions
  /v1/audio/translations
  /v1/audio/speech
  /v1/videos
  /v1/threads/runs
  /v1/threads/thread_1/runs
  /v1/threads/thread_1/runs?include=steps
  /v1/threads/thread_1/runs/run_1/submit_tool_outputs
  /openai/deployments/my-gpt/chat/completions?api-version=2024-10-21
  /v1/chat/completions/
  /v1/modelship/chat/completions
  /v1/an-endpoint-of-tomorrow`;
const OPENAI_FREE = `
  /v1/moderations
  /v1/files
  /v1/files?purpose=batch
  /v1/files/file_1/content
  /v1/uploads/upload_1/complete
  /v1/vector_stores
  /v1/vector_stores/vs_1/files
  /v1/conversations/conv_1/items
  /v1/assistants
  /v1/containers/cntr_1/files
  /v1/skills
  /v1/models
  /v1/evals
  /v1/fine_tuning/jobs
  /v1/organization/projects
  /v1/batches
  /v1/batches/batch_1/cancel
  /v1/responses/input_tokens
  /v1/responses/input_tokens?beta=true
  /v1/responses/resp_1/cancel
  /v1/threads/thread_1/runs/run_1/cancel
  /v1/chat/completions/chatcmpl_1
  /v1/threads
  /v1/threads?limit=1
  /v1/threads/thread_1
  /v1/threads/thread_1/messages
  /v1/threads/thread_1/messages/msg_1`;
const ANTHROPIC_CHARGED = `
  /v1/messages
  /v1/messages?beta=true
  /v1/complete
  /v1/chat/completions`;
const ANTHROPIC_FREE = `
  /v1/messages/count_tokens
  /v1/messages/count_tokens?beta=true
  /v1/messages/batches
  /v1/messages/batches?beta=true
  /v1/messages/batches/msgbatch_1/cancel
  /v1/files
  /v1/skills/skill_1/versions
  /v1/models`;

const rowsOf = (provider: 'openai' | 'anthropic', paths: string, free: boolean): [string, 'openai' | 'anthropic', boolean][] =>
  paths
    .trim()
    .split(/\s+/)
    .map((path) => [`/${provider}${path}`, provider, free]);
const POSTS = [
  ...rowsOf('openai', OPENAI_CHARGED, false),
  ...rowsOf('openai', OPENAI_FREE, true),
  ...rowsOf('anthropic', ANTHROPIC_CHARGED, false),
  ...rowsOf('anthropic', ANTHROPIC_FREE, true),
];

const CHAT: Partial<CapturedExchange> = { path: '/openai/v1/chat/completions' };
const free = (fields: Partial<CapturedExchange>) => isFree(plainExchange(10, { ...CHAT, ...fields }));

test.each(POSTS)('POST %s of %s: free is %p', (path, provider, expected) => {
  expect(free({ path, provider })).toBe(expected);
});

test.each(['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS'])('any %s is free, because only POST calls a model', (method) => {
  for (const [path, provider] of POSTS) expect(free({ method, path, provider })).toBe(true);
});

test('the query decides nothing', () => {
  for (const query of ['x=/files/', 'x=/models', '/batches', 'x=/threads', 'next=/v1/messages/count_tokens'])
    expect({ query, free: free({ path: `/openai/v1/chat/completions?${query}` }) }).toEqual({ query, free: false });
});

test('the name of a deployment decides nothing', () => {
  for (const name of ['files', 'models', 'evals'])
    expect({ name, free: free({ path: `/openai/deployments/${name}/chat/completions` }) }).toEqual({ name, free: false });
});

describe('an exchange that reached no model is free:', () => {
  test('one that the gateway rejected', () => {
    expect(free({ outcome: 'rejected', sentStatus: 429 })).toBe(true);
  });

  test.each([400, 401, 404, 429, 500, 503, 529])('one that the provider refused with %i', (sentStatus) => {
    expect(free({ sentStatus })).toBe(true);
    expect(free({ sentStatus, outcome: 'client_closed' })).toBe(true);
  });

  test.each(UPSTREAM_ERRORS)('only if nothing was sent: %s', (upstreamError) => {
    const neverSent = ['dns', 'connect_refused', 'connect_timeout', 'tls'];
    expect(free({ outcome: 'upstream_error', sentStatus: 502, upstreamError })).toBe(neverSent.includes(upstreamError));
  });
});

test.each<[string, Partial<CapturedExchange>]>([
  ['an answer', { sentStatus: 200 }],
  ['an answer of a status below 400', { sentStatus: 302 }],
  ['the client left before an answer', { outcome: 'client_closed', sentStatus: 0 }],
  ['the client left in an answer', { outcome: 'client_closed', sentStatus: 200 }],
  ['the provider took too long', { outcome: 'timeout', sentStatus: 504, upstreamError: 'first_byte_timeout' }],
  ['the provider broke off', { outcome: 'upstream_error', sentStatus: 200, upstreamError: 'reset' }],
  ['the provider broke off before its answer', { outcome: 'upstream_error', sentStatus: 502, upstreamError: 'reset' }],
])('a model may have been called, which is charged: %s', (_, fields) => {
  expect(free(fields)).toBe(false);
});
