import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import * as fc from 'fast-check';
import { JsonScanner, TOO_LONG } from './json-scanner.ts';
import { KeyPaths } from './key-paths.ts';

const PATHS = ['model', 'usage', 'response.model', 'response.usage', 'message.usage'];

function scan(chunks: readonly Uint8Array[], paths: readonly string[] = PATHS): Record<string, unknown> {
  const scanner = new JsonScanner(new KeyPaths(paths));
  for (const chunk of chunks) scanner.push(chunk);
  return Object.fromEntries(paths.map((path) => [path, scanner.value(path)]));
}

/** Cuts `bytes` at the given positions, in any order. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((left, right) => left - right);
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

const places = fc.array(fc.nat(5_000), { maxLength: 12 });
const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n');
const words = fc.constantFrom('model', 'usage', 'response', 'message', 'mode', 'models', 'a', '', '}"{', 'é€');
const key = fc.tuple(words, fc.nat(6), fc.boolean()).map(([word, place, isEscaped]) => {
  const code = word.charCodeAt(place);
  if (!isEscaped || Number.isNaN(code)) return JSON.stringify(word);
  const escape = `\\u${code.toString(16).padStart(4, '0')}`;
  return `"${Array.from(word, (letter, at) => (at === place ? escape : JSON.stringify(letter).slice(1, -1))).join('')}"`;
});
const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.array(fc.constantFrom('"', '\\', '\\\\', 'a long chunk', '{', '}'), { maxLength: 12 }).map((chunks) => chunks.join('')),
  fc.constantFrom('\\', '"', '\\"', '{"usage":1}', 'x'.repeat(90), '\\'.repeat(33)),
);
/** JSON texts, not values: with repeated keys, spaces and escapes. */
const { value } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('1', '-2.5e3', 'true', 'null'),
    text.map((one) => JSON.stringify(one)),
    tie('object'),
    tie('array'),
  ),
  object: fc
    .array(fc.tuple(space, key, space, space, tie('value'), space), { maxLength: 5 })
    .map((members) => `{${members.map(([a, name, b, c, inner, d]) => `${a}${name}${b}:${c}${inner}${d}`).join(',')}}`),
  array: fc
    .array(fc.tuple(space, tie('value')), { maxLength: 3 })
    .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
}));

function lookUp(root: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => {
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    return isObject ? (inner as Record<string, unknown>)[name] : undefined;
  }, root);
}

const json = (length: number) => Buffer.from(`{"usage":"${'x'.repeat(length - 2)}","model":"m"}`);

describe('JsonScanner', () => {
  test('finds the same as JSON.parse in any segmentation', () => {
    fc.assert(
      fc.property(value, places, (text, at) => {
        const root: unknown = JSON.parse(text);
        const expected = Object.fromEntries(PATHS.map((path) => [path, lookUp(root, path)]));
        expect(scan(cut(Buffer.from(text), at))).toEqual(expected);
      }),
      { numRuns: propertyRuns(3_000) },
    );
  });

  test('gives the same for garbage in any segmentation, and never throws', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      '\\',
      ' ',
      '\n',
      'tru',
      '1',
      '"usage"',
      '"response":{',
      '{"usage":',
      '"model":"m"',
      '\u0001',
      '\ufeff',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 30 }), places, (tokens, at) => {
        const bytes = Buffer.from(tokens.join(''));
        expect(scan(cut(bytes, at))).toEqual(scan([bytes]));
      }),
      { numRuns: propertyRuns(3_000) },
    );
  });

  test.each<[string, string, unknown]>([
    ['a key inside a string', '{"a":"{\\"usage\\":1}","b":1}', undefined],
    ['a key one level too deep', '{"a":{"usage":1},"b":[{"usage":2}]}', undefined],
    ['a key after deeper ones', '{"a":{"usage":1},"usage":3}', 3],
    ['tool arguments', '{"choices":[{"function":{"arguments":"{\\"usage\\":{}}","usage":{}}}]}', undefined],
    ['a byte order mark', '\ufeff{"usage":4}', 4],
    ['an escaped key', '{"\\u0075sage":5}', 5],
    ['a value that was cut', '{"model":"m","usage":{"a":1', undefined],
    ['a break after the value', '{"usage":6,,,]', 6],
    ['a value that is no JSON', '{"usage":tru}', undefined],
    ['a repeated key', '{"usage":1,"usage":{"b":2}}', { b: 2 }],
  ])('%s', (_, text, expected) => {
    expect(scan([Buffer.from(text)])['usage']).toEqual(expected);
  });

  test('a key with a dot is not a path', () => {
    expect(scan([Buffer.from('{"response.usage":1,"response":{"a.usage":2}}')])['response.usage']).toBeUndefined();
  });

  test('a repeated parent without the values removes them', () => {
    expect(scan([Buffer.from('{"response":{"usage":1},"response":null}')])['response.usage']).toBeUndefined();
  });

  test('a value over 64 KiB is only said to be too long, one of 64 KiB is kept, and later values are found', () => {
    for (const size of [1, 7_000, 1_000_000]) {
      const chunks = (bytes: Buffer) =>
        cut(
          bytes,
          Array.from({ length: Math.floor(bytes.length / size) }, (_, at) => at * size),
        );
      expect(scan(chunks(json(65_536)))).toMatchObject({ usage: 'x'.repeat(65_534), model: 'm' });
      expect(scan(chunks(json(65_537)))).toMatchObject({ usage: TOO_LONG, model: 'm' });
    }
  });

  test('the elements of an array on a path are visited in order, each with its own values', () => {
    const type = fc.oneof(fc.constantFrom('message', 'call'), fc.integer(), fc.constant(null));
    const item = fc.oneof(
      fc.record({ type, action: fc.record({ type: fc.string() }), content: fc.array(fc.record({ type })) }, { requiredKeys: [] }),
      fc.constantFrom<unknown>(1, 'x', null, [], [{ type: 'inner' }], { output: [{ type: 'inner' }] }),
    );
    const body = fc.record({ id: fc.string(), output: fc.array(item, { maxLength: 5 }), data: fc.array(item, { maxLength: 3 }) });
    fc.assert(
      fc.property(body, fc.boolean(), places, (root, isNested, at) => {
        const prefix = isNested ? 'response.' : '';
        const seen: unknown[] = [];
        const scanner: JsonScanner = new JsonScanner(
          new KeyPaths([`${prefix}id`, `${prefix}output[].type`, `${prefix}output[].action`, `${prefix}data[]`]),
          (path, index) => {
            if (path === `${prefix}data[]`) seen.push(['data', index]);
            else seen.push([index, scanner.value(`${path}.type`), scanner.value(`${path}.action`)]);
          },
        );
        const bytes = Buffer.from(JSON.stringify(isNested ? { response: root } : root, undefined, at.length % 3));
        for (const chunk of cut(bytes, at)) scanner.push(chunk);
        const own = (value: unknown, name: string) => lookUp(value, name);
        expect(seen).toEqual([
          ...root.output.map((one, index) => [index, own(one, 'type'), own(one, 'action')]),
          ...root.data.map((_, index) => ['data', index]),
        ]);
        expect([scanner.closed, scanner.value(`${prefix}id`)]).toEqual([true, root.id]);
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });

  test('reads only the given part of a chunk', () => {
    const scanner = new JsonScanner(new KeyPaths(['usage']));
    const chunk = Buffer.from('xx{"usage":"a long string that goes on beyond its part", "usage": 1}');
    scanner.push(chunk, 2, 42);
    scanner.push(Buffer.from('"}}}'), 0, 2);
    expect([scanner.value('usage'), scanner.closed]).toEqual(['a long string that goes on bey', true]);
  });

  test('the last value of a repeated key counts', () => {
    const scanner = new JsonScanner(new KeyPaths(['model']));
    scanner.push(Buffer.from('{"model":"a"'));
    expect([scanner.closed, scanner.value('model')]).toEqual([false, 'a']);
    scanner.push(Buffer.from(',"model":"b"}'));
    expect([scanner.closed, scanner.value('model')]).toEqual([true, 'b']);
  });

  test.each([
    ['{} ', true],
    ['[1]', true],
    ['"a"', true],
    ['{', false],
    ['<html> {}', false],
    ['}', false],
    ['12 ', false],
    ['{"a":}', false],
  ])('whether the root of %j is closed', (text, expected) => {
    const scanner = new JsonScanner(new KeyPaths(['model']));
    scanner.push(Buffer.from(text));
    expect(scanner.closed).toBe(expected);
  });

  test('reset forgets everything', () => {
    const scanner = new JsonScanner(new KeyPaths(['model']));
    scanner.push(Buffer.from('{"model":"a","b":"\\'));
    scanner.reset();
    expect(scanner.value('model')).toBeUndefined();
    scanner.push(Buffer.from('{"":0,"model":"c"}'));
    expect([scanner.value('model'), scanner.closed]).toEqual(['c', true]);
  });

  test('overlapping paths are a bug of the caller', () => {
    expect(() => new KeyPaths(['error', 'error.type'])).toThrow(/invariant/);
  });
});
