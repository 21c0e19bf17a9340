import { expect, test } from '@jest/globals';
import { genaiOperationName } from './exchange-facts.ts';

test.each([
  ['/openai/v1/chat/completions', 'chat'],
  ['/openai/v1/responses?stream=1', 'chat'],
  ['/anthropic/v1/messages', 'chat'],
  ['/openai/v1/embeddings', 'embeddings'],
  ['/openai/v1/completions', 'text_completion'],
  ['/anthropic/v1/complete', 'text_completion'],
  ['/anthropic/v1/messages/count_tokens', undefined],
  ['/openai/v1/models', undefined],
  ['/openai/v1/files?path=/v1/messages', undefined],
])('%s requests %s', (path, expected) => {
  expect(genaiOperationName(path)).toBe(expected);
});
