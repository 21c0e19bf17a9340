import { MOCK_TIME_S, type RouteResult } from './mock-dialect.ts';

const MODELS = ['gpt-5.1-2025-11-13', 'gpt-4o-2024-08-06', 'gpt-4o-mini-2024-07-18', 'text-embedding-3-small', 'whisper-1'];

/** GET /v1/models. */
export function openaiModels(): RouteResult {
  const data = MODELS.map((id) => ({ id, object: 'model', created: MOCK_TIME_S, owned_by: 'system' }));
  return { kind: 'json', body: { object: 'list', data } };
}
