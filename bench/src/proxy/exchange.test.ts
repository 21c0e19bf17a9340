import { expect, test } from '@jest/globals';

import { JSON_BODY, kindOf, requestBytes, STREAM_EVENTS } from './exchange.ts';

test.each(['json', 'stream', 'stream-cut'] as const)(
  'a %s request is whole HTTP with 1,024 bytes of JSON, and the mock knows its kind',
  (kind) => {
    const [head = '', body = ''] = requestBytes(kind, 8080, '/openai/v1/chat/completions').toString().split('\r\n\r\n');
    expect(head).toMatch(/^POST \/openai\/v1\/chat\/completions HTTP\/1\.1\r\nhost: 127\.0\.0\.1:8080\r\n/);
    expect(head).toMatch(/\r\ncontent-length: 1024$/);
    expect(body).toHaveLength(1024);
    expect(JSON.parse(body)).toMatchObject({ model: 'gpt-4o-mini', stream: kind !== 'json' });
    expect(kindOf(Buffer.from(body))).toBe(kind);
  },
);

test('the JSON response is 2,048 bytes with usage', () => {
  expect(JSON_BODY).toHaveLength(2048);
  expect(JSON.parse(JSON_BODY.toString())).toMatchObject({ usage: { total_tokens: 616 } });
});

test('the streamed response is 50 chunks, the last with usage, and [DONE]', () => {
  const data = STREAM_EVENTS.map((event) => /^data: (.*)\n\n$/.exec(event.toString())?.[1] ?? '');
  expect(data.pop()).toBe('[DONE]');
  expect(data).toHaveLength(50);
  expect(data.map((text) => JSON.parse(text) as unknown).at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 262 } });
});
