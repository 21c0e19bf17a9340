import { describe, expect, test } from '@jest/globals';
import { finishedResponse, pendingResponse, readsBack, usagePathOf } from './stored-responses.ts';

const openai = (method: string, path: string) => ({ provider: 'openai' as const, method, path });

describe('the effect of an exchange on stored objects of a provider', () => {
  test.each([
    ['POST', '/openai/v1/responses', false],
    ['POST', '/openai/v1/responses?x=/responses/a/cancel', false],
    ['POST', '/openai/v1/responses/compact', false],
    ['POST', '/openai/v1/responses/input_tokens', false],
    ['POST', '/openai/v1/chat/completions', false],
    ['POST', '/openai/v1/chat/completions/', false],
    ['POST', '/anthropic/v1/messages', false],
    ['POST', '/openai/v1/responses/resp_1/cancel', true],
    ['POST', '/openai/v1/responses/resp_1/cancel/?a=b', true],
    ['POST', '/openai/v1/chat/completions/chatcmpl_1', true],
    ['GET', '/openai/v1/responses/resp_1', true],
    ['GET', '/anthropic/v1/models', true],
    ['DELETE', '/openai/v1/responses/resp_1', true],
  ])('%s %s reads back: %p', (method, path, expected) => {
    expect(readsBack({ method, path })).toBe(expected);
  });

  test('usage created elsewhere is counted where it was created', () => {
    expect(usagePathOf({ method: 'GET', path: '/openai/v1/responses/resp_1' })).toBe('/v1/responses');
    expect(usagePathOf({ method: 'POST', path: '/openai/v1/embeddings' })).toBe('/openai/v1/embeddings');
  });
});

describe('a finished response', () => {
  const state = { id: 'resp_1', isFinished: true, background: true };
  test.each([
    [openai('GET', '/openai/v1/responses/resp_1'), state, 'resp_1'],
    [openai('GET', '/openai/v1/responses/resp%5F2'), state, 'resp_1'],
    [openai('GET', '/openai/v1/responses/resp%5F2?x=1'), undefined, 'resp_2'],
    [openai('GET', '/openai/v1/responses/%ZZ'), undefined, undefined],
    [openai('POST', '/openai/v1/responses/resp_1/cancel'), state, 'resp_1'],
    [openai('GET', '/openai/v1/responses/resp_1'), { ...state, isFinished: false }, undefined],
    [openai('GET', '/openai/v1/responses/resp_1'), { ...state, id: 'a\nb' }, undefined],
    [openai('GET', '/openai/v1/batches/batch_1'), { ...state, id: 'batch_1' }, undefined],
    [{ ...openai('GET', '/anthropic/v1/responses/resp_1'), provider: 'anthropic' as const }, state, undefined],
  ])('%j with state %j is %j', (asked, said, id) => {
    expect(finishedResponse(asked, said)).toBe(id);
  });
});

describe('a background response', () => {
  const state = { id: 'resp_1', isFinished: false, background: true };
  test.each([
    ['/openai/v1/responses', state, false, 'resp_1'],
    ['/openai/v1/responses/?x=1', state, false, 'resp_1'],
    ['/openai/v1/responses', { ...state, background: false }, true, 'resp_1'],
    ['/openai/v1/responses', { ...state, background: false }, false, undefined],
    ['/openai/v1/responses', { ...state, isFinished: true }, true, undefined],
    ['/openai/v1/responses', { ...state, id: 'x'.repeat(257) }, true, undefined],
    ['/openai/v1/responses', undefined, true, undefined],
    ['/openai/v1/chat/completions', state, true, undefined],
  ])('%s with state %j, background %p, is %j', (path, said, isBackground, id) => {
    expect(pendingResponse(openai('POST', path), said, () => isBackground)).toBe(id);
  });
});
