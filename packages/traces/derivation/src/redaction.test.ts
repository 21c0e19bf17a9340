import { describe, expect, test } from '@jest/globals';
import { scrub } from '@vitrine/privacy/scrub';
import { headerOf, headerValuesOf } from '@vitrine/privacy/header-lines';
import { readLineage } from '@vitrine/traces/lineage-headers';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { BodyKind } from '@vitrine/privacy/redaction';
import type { BodyEnding, CapturedBody } from './captured-exchange.ts';
import { OpenBody } from './open-body.ts';
import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { Redactor } from '@vitrine/privacy/redactor';
import { Scrubber } from '@vitrine/privacy/redaction';
import { redactPath } from '@vitrine/privacy/scrub';
import { storedBody } from './stored-body.ts';

const lines = (...pairs: string[]) => pairs.join('\n');
const json = (value: unknown) => JSON.stringify(value);
const event = (content: string) => `data: ${json({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

describe('header lines', () => {
  test('repeated headers keep their values in order', () => {
    expect(headerValuesOf(lines('A', '1', 'b', '2', 'a', '3'))).toEqual({ a: ['1', '3'], b: ['2'] });
    expect(headerValuesOf('')).toEqual({});
    expect(headerValuesOf(lines('__proto__', '1'))['__proto__']).toEqual(['1']);
  });

  test('a header is found by its whole name in any letter case, and never among values', () => {
    const headers = lines('X-Name', 'content-type', 'X-Content-Type', 'a', 'CONTENT-TYPE', ' b ');
    expect(headerOf(headers, 'content-type')).toBe('b');
    expect(headerOf(headers, 'content')).toBeUndefined();
  });
});

test.each([
  ['/v1/models?limit=10', '/v1/models?limit=10'],
  ['/v1/x?api_key=abc&limit=1', '/v1/x?api_key=[REDACTED]&limit=1'],
  ['/v1/x?a=1&access_token=t&Signature=s', '/v1/x?a=1&access_token=[REDACTED]&Signature=[REDACTED]'],
  ['/v1/x/sk-proj-canary0123', '/v1/x/[REDACTED]'],
  ['/v1/x/a%20sk-proj-canary0123', '/v1/x/a%20[REDACTED]'],
  ['/v1/x/a%2520sk-proj-canary0123?limit=1', '/v1/x/a%2520[REDACTED]?limit=1'],
  ['/v1/x?api%5Fkey=abc&%74oken=t&max%5Ftokens=1', '/v1/x?api%5Fkey=[REDACTED]&%74oken=[REDACTED]&max%5Ftokens=1'],
  ['/v1/x?to=https%3A%2F%2Fh%2F%3Fapi_key%3Dabc%26n%3D1&n=2', '/v1/x?to=https%3A%2F%2Fh%2F%3Fapi_key%3D[REDACTED]%26n%3D1&n=2'],
  ['/v1/x?note=password%3D%27a%20b%27', '/v1/x?note=password%3D%27[REDACTED]%27'],
])('the path %s is stored as %s', (path, stored) => {
  expect(redactPath(path).text).toBe(stored);
});

describe('stored bodies', () => {
  const policy = { bodyMaxSize: 8 };
  const off = new Scrubber();
  const rules: PrivacyRules = {
    mode: 'redact_storage',
    policyId: 'p',
    detectors: { email: true, phone: true, ssn: true, token_like: true },
    deniedHeaders: [],
    deniedFields: ['password'],
    format: '[{type}]',
    salt: '',
    scopes: [],
  };
  const on = new Redactor(openPrivacyContext(rules), 'default');
  const redactsCredentials = () => {
    const { whenOff } = openPrivacyContext({ ...rules, mode: 'off' });
    return new Scrubber(whenOff && new Redactor(whenOff, 'default'));
  };
  const open = (bytes: Buffer, kind?: BodyKind, more: Partial<CapturedBody> = {}) =>
    new OpenBody({ kind, coding: '', chunks: [bytes], bytes: bytes.length, facts: undefined, ...more });
  const undecodable = (bytes: Buffer, kind?: BodyKind, more: Partial<CapturedBody> = {}) =>
    open(bytes, kind, { coding: 'unknown', ...more });
  const stored = (text: string, kind?: BodyKind, bodyMaxSize = 1_000) =>
    storedBody(open(Buffer.from(text), kind), { bodyMaxSize }, on);

  test('a body is cut at body_max_size, never through a character', () => {
    expect(storedBody(open(Buffer.from('1234567\u20ac')), policy, off)).toMatchObject({ text: '1234567', truncated: true });
    expect(storedBody(open(Buffer.from('12345\u20ac')), policy, off)).toMatchObject({ text: '12345\u20ac', truncated: false });
  });

  test('a body that is not text is base64', () => {
    expect(storedBody(open(Buffer.from([0xff, 0xfe])), policy, off)).toMatchObject({ text: '//4=', encoding: 'base64' });
  });

  test('an undecodable body is stored unchanged, and an empty one is not stored', () => {
    expect(storedBody(undecodable(Buffer.from('raw')), policy, off)?.text).toBe('raw');
    expect(storedBody(open(Buffer.alloc(0)), policy, off)).toBeUndefined();
  });

  test('credentials are hidden, unless redaction is off and so is the detector of credentials', () => {
    const body = open(Buffer.from('sk-proj-canary alice@example.com'));
    const wide = { bodyMaxSize: 100 };
    expect(storedBody(body, wide, on)).toMatchObject({ text: '[TOKEN] [EMAIL]' });
    expect(storedBody(body, wide, redactsCredentials())).toMatchObject({ text: '[CREDENTIAL_REDACTED] alice@example.com' });
    expect(storedBody(body, wide, off)).toMatchObject({ text: 'sk-proj-canary alice@example.com' });
    expect(
      openPrivacyContext({ ...rules, mode: 'off', detectors: { ...rules.detectors, token_like: false } }).whenOff,
    ).toBeUndefined();
  });

  test.each<[string, BodyKind, string, string]>([
    ['members of JSON', 'json', '{"password":"a b","Secret":{"a":1},"n":5}', '{"password":"#","Secret":"#","n":5}'],
    ['but no fragments of words', 'json', '{"token":"Hello","secret":""}', '{"token":"Hello","secret":""}'],
    ['tokens of JSON', 'json', '{"token":"abc123","max_tokens":5}', '{"token":"#","max_tokens":5}'],
    [
      'JSON in strings of JSON',
      'json',
      json({ a: json({ b: "x sk-proj-abcdefgh password='a b'" }) }),
      json({ a: json({ b: "x # password='#'" }) }),
    ],
    ['escapes of JSON', 'json', '{"a":"\\u0073k-proj-abcdefgh"}', '{"a":"#"}'],
    ['quotes in a string', 'json', json({ a: 'my password="a b" c' }), json({ a: 'my password="#" c' })],
    [
      'chunks of a stream',
      'sse',
      `${event('my sk-pr')}${event('oj-abcd')}${event('efgh. x')}`,
      `${event('my #')}${event('')}${event('. x')}`,
    ],
    [
      'chunks with a quoted value',
      'sse',
      `${event('my password="a')}${event(' b" c')}`,
      `${event('my password="#')}${event('" c')}`,
    ],
    ['forms', undefined, 'a=1&password=x&note=password%3D%22a+b%22', 'a=1&password=#&note=password%3D%22%23%22'],
    [
      'forms, whatever stands behind a blank',
      undefined,
      'client_secret=abc%20sk-proj-abcdefgh;%20&b=c',
      'client_secret=%23+%23%3B+&b=c',
    ],
    ['parts of a form', undefined, 'x\r\n; name="token"\r\n\r\nabc\r\n', 'x\r\n; name="token"\r\n\r\n#\r\n'],
    ['a line that begins like JSON', 'json', json({ a: '[INFO] password="a b" c' }), json({ a: '[INFO] password="#" c' })],
    ['an object of code', 'json', json({ a: '{password: "a b", c}' }), json({ a: '{password: "#", c}' })],
    ['plain text', undefined, 'a\nmy password: "a b", a@example.com', 'a\nmy password: "#", a@example.com'],
  ])('with redaction off, credentials are still hidden in %s', (_, kind, text, expected) => {
    const { text: found = '' } = storedBody(open(Buffer.from(text), kind), { bodyMaxSize: 1_000 }, redactsCredentials()) ?? {};
    expect(found.replaceAll('[CREDENTIAL_REDACTED]', '#').replaceAll('%5BCREDENTIAL_REDACTED%5D', '%23')).toBe(expected);
  });

  test('a body that is not UTF-8 is still redacted, and its other bytes are unchanged', () => {
    const bytes = Buffer.from('\xff{"password":"hunter2"} \xe9 alice@example.com\x00}', 'latin1');
    const { text = '', encoding } = storedBody(open(bytes, 'json'), { bodyMaxSize: 1_000 }, on) ?? {};
    expect(Buffer.from(text, 'base64').toString('latin1')).toBe('\xff{"password":"[FIELD]"} \xe9 [EMAIL]\x00}');
    expect(encoding).toBe('base64');
  });

  test('an undecodable body is dropped when bodies are redacted, unless it is text', () => {
    expect(storedBody(undecodable(Buffer.from([0x1f, 0x8b, 0xff])), policy, on)).toEqual({
      text: undefined,
      truncated: false,
      encoding: undefined,
    });
    expect(storedBody(undecodable(Buffer.from('{"password":"x"}')), { bodyMaxSize: 99 }, on)?.text).toBe(
      '{"password":"[FIELD]"}',
    );
  });

  test.each(['alice@example.com', 'sk-proj-canary123456', '415-555-0100', '+49 151 123 456 78', '(415) 555-0100', '123 45 6789'])(
    'wherever a body is cut, nothing of %s survives',
    (secret) => {
      const text = `{"content":"it is ${secret}, and so on","n":1}`;
      const at = text.indexOf(secret);
      for (let length = at + 1; length <= at + secret.length; length += 1) {
        for (const kind of ['json', undefined] as const) {
          const cut = stored(text, kind, length);
          expect(cut).toMatchObject({ truncated: true });
          expect(cut?.text).toMatch(/^{"content":"it is ?\(?(\[\w+\])?$/);
        }
      }
    },
  );

  const chunk = (content: string) => `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;
  const said = (text = '') => Array.from(text.matchAll(/"content":"([^"]*)/g), ([, content]) => content).join('');

  test.each(['alice@example.com', 'sk-proj-canary123456', '415-555-0100', '+49 151 123 456 78', '(415) 555-0100', '123 45 6789'])(
    'wherever a stream is cut, nothing of %s survives that came in chunks',
    (secret) => {
      for (const size of [1, 3, 9, 15]) {
        const chunks = `it is ${secret}`.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
        const stream = chunks.map(chunk).join('');
        const survivors = new Set<string>();
        // Chunks of one character are many: their framing is cut everywhere, but not in each of them.
        for (let length = 1; length < stream.length; length += size === 1 ? 7 : 1)
          survivors.add(said(stored(stream, 'sse', length)?.text));
        expect([...survivors].filter((text) => !/^(it ?)?(is ?)?\(?(\[\w+\])?$/.test(text))).toEqual([]);
        expect(survivors.size).toBeGreaterThan(1);
      }
    },
  );

  test.each(['gzip', 'br', 'zstd', 'deflate', 'gzip, br'])(
    'a stream that is coded with %s is redacted, whole or cut',
    (coding) => {
      const encode = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync, deflate: deflateSync };
      const stream = Buffer.from(['to ali', 'ce@exam', 'ple.com', ', then'].map(chunk).join(''));
      const bytes = coding.split(', ').reduce((body, one) => encode[one as keyof typeof encode](body), stream);
      const body = (whole: boolean): CapturedBody => {
        const length = bytes.length + (whole ? 0 : 1);
        return { kind: 'sse', coding, chunks: [bytes], bytes: length, facts: undefined };
      };
      const of = (one: CapturedBody, bodyMaxSize: number) => storedBody(new OpenBody(one), { bodyMaxSize }, on);
      expect(said(of(body(true), 10_000)?.text)).toBe('to [EMAIL], then');
      expect(said(of(body(false), 10_000)?.text)).toBe('to [EMAIL], ');
      expect(said(of(body(true), chunk('').length * 2)?.text)).toBe('to ');
    },
  );

  test.each([
    'password="hunter two"',
    "password: 'hunter two'",
    'secret=hunter,two',
    'Bearer hunter2',
    'authorization: Bearer hunt2',
    'password=%27hunter%20two%27',
    'ogk_hunter-two',
  ])('a body cut anywhere keeps no part of the value in %s', (secret) => {
    for (const redaction of [on, redactsCredentials()]) {
      for (const kind of ['json', undefined] as const) {
        const text = kind === 'json' ? json({ a: `it is ${secret}, and so on` }) : `it is ${secret}, and so on`;
        for (let length = 1; length <= text.length; length += 1) {
          const { text: cut = '' } = storedBody(open(Buffer.from(text), kind), { bodyMaxSize: length }, redaction) ?? {};
          expect(cut).not.toMatch(/hun|t2|tw/);
        }
      }
    }
  });

  test('a token longer than the part dropped at a cut is found by its beginning', () => {
    const token = `eyJ${'a'.repeat(3_000)}.eyJ${'b'.repeat(3_000)}.c`;
    expect(stored(`{"content":"it is ${token}"}`, 'json', 5_000)?.text).toBe('{"content":"it is ');
    const data = `${'+/'.repeat(1_000)}${'x'.repeat(2_000)}`;
    expect(stored(`{"content":"it is ${data}"}`, 'json', 3_000)?.text).toHaveLength(3_000 - 1_024);
  });

  test('an interrupted body is treated like a cut one; a complete one is not', () => {
    expect(stored('{"content":"it is alice@exam', 'json')).toMatchObject({ text: '{"content":"it is ', truncated: true });
    for (const whole of ['{"a":"b"} ', '["a"]\n', '"ab"'])
      expect(stored(whole, 'json')).toMatchObject({ text: whole, truncated: false });
    expect(stored('data: {"a":"b"}', 'sse')).toMatchObject({ text: 'data: {"a":"b"}', truncated: false });
    expect(stored('plain words', undefined)).toMatchObject({ text: 'plain words', truncated: false });
  });

  test.each([
    ['whole', 'json', 'ask alice', 'ask alice'],
    ['whole', undefined, 'ask alice', 'ask alice'],
    ['open', 'json', 'ask alice', 'ask '],
    ['open', undefined, 'ask alice', 'ask alice'],
    ['cut', 'json', 'ask alice', 'ask '],
    ['cut', 'sse', 'data: {"a":1}', 'data: {"a":1}'],
    ['cut', undefined, 'ask alice', 'ask '],
    [undefined, 'json', 'ask alice', 'ask '],
  ] as const)('how it ended (%s) is believed: %s %j is kept as %j', (ending, kind, text, kept) => {
    const body = open(Buffer.from(text), kind, { ending });
    expect(storedBody(body, { bodyMaxSize: 99 }, on)).toMatchObject({ text: kept, truncated: text !== kept });
  });

  test('a stream cut between two events contains no half of a secret either', () => {
    const events = ['it is alice@', 'exam'].map(
      (content) => `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`,
    );
    const body = (ending: BodyEnding) => open(Buffer.from(events.join('')), 'sse', { ending });
    expect(storedBody(body('cut'), { bodyMaxSize: 999 }, on)?.text).not.toMatch(/alice|exam/);
    expect(storedBody(body('whole'), { bodyMaxSize: 999 }, on)?.text).toContain('alice');
  });

  test('an undecodable body keeps its last word', () => {
    const body = (ending?: BodyEnding) => undecodable(Buffer.from('ask alice'), 'json', { ending });
    expect(storedBody(body(), { bodyMaxSize: 99 }, on)).toMatchObject({ text: 'ask alice', truncated: false });
    expect(storedBody(body('cut'), { bodyMaxSize: 99 }, on)).toMatchObject({ text: 'ask ', truncated: true });
  });
});

describe('lineage headers', () => {
  const read = (...pairs: string[]) => readLineage(lines(...pairs), (value) => scrub(value).text);

  test('are read, trimmed', () => {
    const headers = [
      'X-Svc-Trace-Group-ID',
      ' g ',
      'x-svc-thread-id',
      't',
      'X-Svc-Run-ID',
      'r',
      'X-Svc-Parent-Checkpoint-ID',
      'p',
      'X-Svc-Checkpoint-Seq',
      '3',
    ];
    const claim = { trace_group_id: 'g', thread_id: 't', run_id: 'r', parent_checkpoint_id: 'p', checkpoint_seq: 3 };
    expect(read(...headers)).toEqual({ claim, ignored: 0 });
  });

  test.each([
    ['X-Svc-Thread-ID', 'a b'],
    ['X-Svc-Thread-ID', 'x'.repeat(129)],
    ['X-Svc-Run-ID', 'r/1'],
    ['X-Svc-Checkpoint-Seq', '-1'],
    ['X-Svc-Checkpoint-Seq', '1.5'],
    ['X-Svc-Checkpoint-Seq', 'one'],
  ])('%s: %s is ignored and counted', (name, value) => {
    expect(read(name, value)).toEqual({ claim: {}, ignored: 1 });
  });
});
