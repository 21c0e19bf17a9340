import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { noFindings, type FindingCounts } from './findings.ts';
import type { PrivacyRules } from './privacy-rules.ts';
import { openPrivacyContext } from './privacy-context.ts';
import { Scrubber, type BodyKind } from './redaction.ts';
import { Redactor } from './redactor.ts';
import { TEST_RULES } from './testing/test-rules.ts';

const redactor = (rules: Partial<PrivacyRules> = {}, workspaceId = 'default') =>
  new Redactor(openPrivacyContext({ ...TEST_RULES, ...rules }), workspaceId);
const bodyOf = (some: Redactor, text: string, kind?: BodyKind) => some.body(text, kind);
const counted = (found: Partial<FindingCounts>) => ({ ...noFindings(), ...found });

interface Case {
  readonly about: string;
  readonly kind?: BodyKind;
  readonly text: string;
  readonly expected: string;
  readonly found: Partial<FindingCounts>;
}
const corpus = JSON.parse(readFileSync(new URL('../testdata/redaction-corpus.json', import.meta.url), 'utf8')) as Case[];

describe('bodies', () => {
  test.each(corpus.map((one) => [one.about, one] as const))('%s', (_, { kind, text, expected, found }) => {
    const some = redactor();
    expect(bodyOf(some, text, kind)).toBe(expected);
    expect(some.counts).toEqual(counted(found));
  });

  test('redacted text contains no further findings', () => {
    for (const { expected, kind } of corpus.filter((one) => one.kind !== undefined)) {
      const some = redactor();
      expect(bodyOf(some, expected, kind)).toBe(expected);
    }
  });

  test('JSON stays JSON, keeps its structure, and contains no secret', () => {
    const secret = fc.constantFrom(
      'alice@example.com',
      '123-45-6789',
      '+49 151 12345678',
      'sk-proj-canary123456',
      'ogk_canary123456',
      "my password='canary 9, canary'",
      'token: "canary 8" ',
      'Bearer canary77',
      'secret=canary,canary',
      'password%3D%22canary%208%22',
      'hf_canarycanarycanarycanary',
      'postgres://bob:canary!@db.example.com',
      '-----BEGIN PRIVATE KEY-----\ncanarycanarycanarycanary\n-----END PRIVATE KEY-----',
      'hunter2"\\\n',
    );
    const leaf = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        secret.map((text) => `x ${text}\ny`),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('token', 'Email', 'max_tokens')), tie('tree'), { maxKeys: 4 }),
        tie('tree').map((value) => JSON.stringify(value)),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.nat(3), (value, indent) => {
        const text = JSON.stringify({ value, password: 'hunter2"\\\n' }, null, indent);
        const redacted = bodyOf(redactor(), text, 'json');
        const shape = (one: unknown): unknown =>
          Array.isArray(one) ? one.map(shape) : typeof one === 'object' && one !== null ? Object.keys(one) : typeof one;
        expect(shape((JSON.parse(redacted) as { value: unknown }).value)).toEqual(shape(value));
        for (const secret of ['alice@example', '45-6789', '12345678', 'canary', '"password":"hunter'])
          expect(redacted).not.toContain(secret);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('a body cut anywhere contains no part of a denied value', () => {
    const text = JSON.stringify({
      a: { password: 'hunter2 is 1 word', n: 5 },
      arguments: JSON.stringify({ token: 'hunter2' }),
      b: 'c',
    });
    for (let at = 0; at <= text.length; at += 1) expect(bodyOf(redactor(), text.slice(0, at), 'json')).not.toContain('hu');
  });
});

// More than the maximum number of call arguments.
test.each<[string, BodyKind, string, Partial<FindingCounts>]>([
  ['in text', undefined, 'a@b.cc '.repeat(130_000), { email: 130_000 }],
  ['in a string', 'json', `{"c":"\\n${'a@b.cc '.repeat(130_000)}"}`, { email: 130_000 }],
  [
    'in two fragments',
    'sse',
    ['a', 'c'].map((name) => `data: {"delta":"${`${name}@b.cc `.repeat(65_000)}"}\n\n`).join(''),
    { email: 130_000 },
  ],
  ['in rows', 'json', ['a', 'c'].map((name) => `{"c":"${`${name}@b.cc `.repeat(65_000)}"}\n`).join(''), { email: 130_000 }],
  ['in a form', undefined, '&token=a'.repeat(130_000), { field_name: 130_000 }],
])('a body consisting only of findings is redacted: %s', (_, kind, text, found) => {
  const some = redactor();
  expect(bodyOf(some, text, kind)).not.toMatch(/@|=a/);
  expect(some.counts).toEqual(counted(found));
});

describe('disabled detectors redact nothing', () => {
  const text = JSON.stringify({ c: 'a@example.com 415-555-0100 123-45-6789 sk-proj-abcdefgh', token: 't' });
  const off = { email: false, phone: false, ssn: false, token_like: false };

  test.each([
    ['email', { email: true }, '[EMAIL] 415-555-0100 123-45-6789 sk-proj-abcdefgh'],
    ['phone', { phone: true }, 'a@example.com [PHONE] 123-45-6789 sk-proj-abcdefgh'],
    ['ssn', { ssn: true }, 'a@example.com 415-555-0100 [SSN] sk-proj-abcdefgh'],
    ['token_like', { token_like: true }, 'a@example.com 415-555-0100 123-45-6789 [TOKEN]'],
  ])('all but %s', (_, on, expected) => {
    const some = redactor({ detectors: { ...off, ...on }, deniedFields: [] });
    expect(bodyOf(some, text, 'json')).toBe(JSON.stringify({ c: expected, token: 't' }));
  });

  test('credentials are still redacted in lines and paths', () => {
    const some = redactor({ detectors: off });
    expect(some.line('model sk-proj-abcdefgh a@example.com')).toBe('model [TOKEN] a@example.com');
    expect(some.path('/v1/sk-proj-abcdefgh')).toBe('/v1/[REDACTED]');
  });
});

describe('placeholders', () => {
  const full = { format: '<{type}|{hash}>' };
  const digitsOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

  test('carry 8 bytes of SHA-256 of workspace, salt and value', () => {
    const some = redactor(full, 'w');
    expect(bodyOf(some, '{"c":"a@example.com","token":"t\\n","ssn":[1, 2]}', 'json')).toBe(
      `{"c":"<EMAIL|${digitsOf('w:salt:a@example.com')}>","token":"<FIELD|${digitsOf('w:salt:t\n')}>","ssn":"<FIELD|${digitsOf('w:salt:[1, 2]')}>"}`,
    );
  });

  test('are not replaced again', () => {
    const once = bodyOf(redactor(full), '{"token":"t","c":"a@example.com"}', 'json');
    const some = redactor(full);
    expect(bodyOf(some, once, 'json')).toBe(once);
    expect(some.counts).toEqual(noFindings());
  });

  test('of the same value are equal within a workspace, but not across workspaces or salts', () => {
    const of = (workspace: string, salt: string) => redactor({ ...full, salt }, workspace).line('a@example.com');
    expect(of('w', 's')).toBe(of('w', 's'));
    expect(new Set([of('w', 's'), of('x', 's'), of('w', 'r')]).size).toBe(3);
  });
});

describe('headers', () => {
  test('denied ones are redacted by name in any letter case, and others by content', () => {
    const some = redactor();
    const lines = ['X-USER', 'bob', 'x-team.name', 'red', 'x-teamXname', 'blue', 'a', 'x-user', 'b', 'to bob@example.com'];
    expect(some.headers(lines.join('\n')).split('\n')).toEqual([
      'X-USER',
      '[REDACTED]',
      'x-team.name',
      '[REDACTED]',
      'x-teamXname',
      'blue',
      'a',
      'x-user',
      'b',
      'to [EMAIL]',
    ]);
    expect(some.counts).toEqual(counted({ header: 2, email: 1 }));
  });

  test('already redacted text is not counted again', () => {
    const some = redactor();
    expect(some.headers('x-user\n[REDACTED]')).toBe('x-user\n[REDACTED]');
    expect(some.counts).toEqual(noFindings());
  });

  test('a private key is redacted within one value', () => {
    const [begin, end] = ['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----'];
    const key = `${begin}\\nabcdefghijklmnopqrstuvwxyz\\n${end}`;
    const lines = ['x-key', key, 'x-a', begin, 'abcdefghijklmnopqrstuvwxyz', 'ab', 'x-b', end].join('\n');
    expect(redactor().headers(lines)).toBe(lines.replace(key, '[TOKEN]'));
    expect(new Scrubber().headers(lines)).toBe(lines.replace(key, '[CREDENTIAL_REDACTED]'));
  });

  test('a value that is a denied name causes no other redaction', () => {
    const lines = 'a\nx-user\nx-user\nbob';
    expect(redactor().headers(lines)).toBe('a\nx-user\nx-user\n[REDACTED]');
  });
});

test.each([
  ['/v1/models?limit=10', '/v1/models?limit=10', {}],
  [
    '/v1/x?email=a&max_tokens=5&api-key=b',
    '/v1/x?email=[FIELD]&max_tokens=5&api-key=[REDACTED]',
    { field_name: 1, token_like: 1 },
  ],
  ['/v1/users/bob@example.com', '/v1/users/[EMAIL]', { email: 1 }],
  ['/v1/users/bob%40example.com?q=%2B4915112345678', '/v1/users/[EMAIL]?q=[PHONE]', { email: 1, phone: 1 }],
  ['/v1/1+1?q=123+45+6789', '/v1/1+1?q=[SSN]', { ssn: 1 }],
  ['/v1/x?user[password]=hunter2', '/v1/x?user[password]=[FIELD]', { field_name: 1 }],
  ['/v1/x?sk%2Dproj-abcdefgh', '/v1/x?[REDACTED]', { token_like: 1 }],
  ['/v1/a%20sk-proj-abcdefgh/b%2520c?n=1', '/v1/a%20[REDACTED]/b%2520c?n=1', { token_like: 1 }],
  ['/v1/%zz%40', '/v1/%zz%40', {}],
  ['/v1/bob%40example.com%zz', '/v1/[EMAIL]', { email: 1 }],
  ['/v1/x?db=redis://u:hunter2@h.example.com', '/v1/x?db=redis://u:[REDACTED]@h.example.com', { token_like: 1 }],
  ['/v1/hf_abcdefghijklmnopqrstuvwxyz012345/x', '/v1/[REDACTED]/x', { token_like: 1 }],
  [
    '/v1/x?k=-----BEGIN+PRIVATE+KEY-----%0Aabcdefghijklmnopqrstuvwxyz%0A-----END+PRIVATE+KEY-----&n=1',
    '/v1/x?k=[REDACTED]&n=1',
    { token_like: 1 },
  ],
  ['/v1/x?token=sk-proj-abcdefgh', '/v1/x?token=[REDACTED]', { token_like: 1 }],
])('the path %s is stored as %s', (path, expected, found) => {
  const some = redactor();
  expect(some.path(path)).toBe(expected);
  expect(some.counts).toEqual(counted(found));
});
