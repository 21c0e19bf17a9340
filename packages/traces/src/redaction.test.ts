import { describe, expect, test } from '@jest/globals';
import { headerOf, headerValuesOf } from './header-lines.ts';
import { readLineage } from './lineage-headers.ts';
import { redactPath } from './redact-path.ts';
import { storedBody } from './stored-body.ts';

const lines = (...pairs: string[]) => pairs.join('\n');

describe('header lines', () => {
  test('repeated headers keep their values in order', () => {
    expect(headerValuesOf(lines('A', '1', 'b', '2', 'a', '3'))).toEqual({ a: ['1', '3'], b: ['2'] });
    expect(headerValuesOf('')).toEqual({});
    expect(headerValuesOf(lines('__proto__', '1'))['__proto__']).toEqual(['1']);
  });

  test('a header is found by its whole name, whatever its case, and never among values', () => {
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
])('the path %s is stored as %s', (path, stored) => {
  expect(redactPath(path).text).toBe(stored);
});

describe('stored bodies', () => {
  const policy = { captureBodies: true, bodyMaxSize: 8, redaction: 'redact_storage' as const, policyId: 'p' };
  const open = (bytes: Buffer, decoded: Buffer | undefined = bytes) => ({
    kind: undefined,
    part: 'body' as const,
    bytes: bytes.length,
    whole: true,
    facts: undefined,
    raw: () => bytes,
    decoded: () => decoded,
  });

  test('a body is cut at body_max_size, never through a character', () => {
    expect(storedBody(open(Buffer.from('1234567\u20ac')), policy)).toMatchObject({ text: '1234567', truncated: true });
    expect(storedBody(open(Buffer.from('12345\u20ac')), policy)).toMatchObject({ text: '12345\u20ac', truncated: false });
  });

  test('what is no text is base64', () => {
    expect(storedBody(open(Buffer.from([0xff, 0xfe])), policy)).toMatchObject({ text: '//4=', encoding: 'base64' });
  });

  test('what cannot be decoded is stored as it came; nothing is stored of nothing', () => {
    expect(storedBody({ ...open(Buffer.from('raw')), decoded: () => undefined }, policy)?.text).toBe('raw');
    expect(storedBody(open(Buffer.alloc(0)), policy)).toBeUndefined();
  });

  test('credentials are scrubbed unless redaction is off', () => {
    const body = open(Buffer.from('sk-proj-canary'));
    const wide = { ...policy, bodyMaxSize: 100 };
    expect(storedBody(body, wide)).toMatchObject({ text: '[CREDENTIAL_REDACTED]', redacted: 1 });
    expect(storedBody(body, { ...wide, redaction: 'off' })).toMatchObject({ text: 'sk-proj-canary', redacted: 0 });
  });
});

describe('lineage headers', () => {
  const read = (...pairs: string[]) => readLineage(lines(...pairs));

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
