import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openBodyFactsReader } from './body-facts-reader.ts';
import { findLastRootUsage, findPart, findRootModel, foundFacts } from './whole-json.ts';

const lastRootUsage = (body: Buffer) => {
  const found = findLastRootUsage(body);
  return found && foundFacts('usage', found).usage;
};
const rootModel = (body: Buffer) => {
  const found = findRootModel(body);
  return found && foundFacts('model', found).model;
};

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

/** What the tap says, which reads every byte. */
function tapped(body: Buffer) {
  const tap = openBodyFactsReader('json');
  tap.push(body);
  return tap.end();
}

describe('the last usage of the root', () => {
  test.each([
    ['last', { id: 'x', usage }],
    ['first', { usage, id: 'x', list: [1, { a: '}' }] }],
    ['before text that looks like it', { usage, note: '\\"usage":{"prompt_tokens":9}}' }],
    ['after a nested one', { tool: { usage: { prompt_tokens: 9 } }, usage }],
  ])('finds it %s', (_, value) => {
    for (const indent of [0, 2])
      expect(lastRootUsage(Buffer.from(JSON.stringify(value, undefined, indent)))).toMatchObject({ total_tokens: 7 });
  });

  test.each([
    ['a nested one after it', JSON.stringify({ usage, tool: { usage: { prompt_tokens: 9 } } })],
    ['only a nested one', JSON.stringify({ tool: { usage } })],
    ['a cut body', JSON.stringify({ id: 'x', usage }).slice(0, -1)],
    ['two roots', `{"a":{}}${JSON.stringify({ usage })}}`],
    ['null', '{"usage":null}'],
    ['nothing', ''],
  ])('leaves %s to the tap', (_, text) => {
    expect(lastRootUsage(Buffer.from(text))).toBeUndefined();
  });

  test('never says anything else than the tap', () => {
    const key = fc.constantFrom('usage', 'a', '"usage"', 'prompt_tokens', '\\', ',"usage":{');
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(1, null, true, 'usage', ',"usage":{"prompt_tokens":1}', '}', '\\', usage),
        fc.dictionary(key, tie('json'), { maxKeys: 4 }),
        fc.array(tie('json'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 1), (value, indent) => {
        const body = Buffer.from(JSON.stringify(value, undefined, indent));
        const found = lastRootUsage(body);
        if (found !== undefined) expect(found).toEqual(tapped(body).usage);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the model of the root', () => {
  test.each([
    ['first', '{"model":"gpt-4o-mini","messages":[]}'],
    ['last', '{"messages":[{"content":"}"}],"model":"gpt-4o-mini"}'],
    ['between, with space', '{\n  "messages": [ ],\n  "model" : "gpt-4o-mini",\n  "stream": true\n}\n'],
  ])('finds it %s', (_, text) => {
    expect(rootModel(Buffer.from(text))).toBe('gpt-4o-mini');
  });

  test.each([
    '{"tool":{"model":"a"}}',
    '{"model" :"a","tool":{"model":"b"}}',
    '{"list":["model"]}',
    '{"list":["model"],"model":"a"}',
    '{"model":"a\\u0062"}',
    '{ "model":"a"',
    '{"model":"',
    '{"model":1}',
    '',
    '{"model":""}',
  ])('leaves %s to the tap', (text) => {
    expect(rootModel(Buffer.from(text))).toBeUndefined();
  });

  test('is left to the reader where the request may be for a response in the background', () => {
    expect(findPart('model', Buffer.from('{"model":"a"}'))?.toString()).toBe('a');
    expect(findPart('model', Buffer.from('{"model":"a","background":true}'))).toBeUndefined();
  });

  test('never says anything else than the tap', () => {
    const member = fc.constantFrom('model', 'a', '"model"', '\\', ',"model":"x"', '}');
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 3 },
        fc.string({ unit: 'binary' }),
        member,
        fc.dictionary(member, tie('json'), { maxKeys: 4 }),
        fc.array(tie('json'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(member, json), fc.constantFrom(undefined, 1), (value, indent) => {
        const body = Buffer.from(JSON.stringify(value, undefined, indent));
        const found = rootModel(body);
        if (found !== undefined) expect(found).toBe(tapped(body).model);
      }),
      { numRuns: 2_000 },
    );
  });
});
