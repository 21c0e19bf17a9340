import { describe, expect, test } from '@jest/globals';
import { messageOf } from '@vitrine/faults/fault';
import { cursorOf } from '@vitrine/traces/trace-store';
import { readQuery } from '@vitrine/http-api/requests/query-shapes';
import type { z } from 'zod';
import { listQuery, traceQueryOf } from './traces-route.ts';

const readListQuery = (values: Record<string, unknown>) => traceQueryOf(readQuery(listQuery, values));

const refusal = (values: Record<string, unknown>) => {
  try {
    readListQuery(values);
  } catch (error) {
    return messageOf(error);
  }
  return 'accepted';
};

const mapped = <K extends string, V, T>(of: Readonly<Record<K, V>>, map: (value: V) => T) =>
  Object.fromEntries(Object.entries<V>(of).map(([name, value]) => [name, map(value)])) as Record<K, T>;

describe('the parameters of GET /api/traces', () => {
  test('no query is the newest 50', () => {
    expect(readListQuery({}).limit).toBe(50);
    expect(readListQuery({ limit: '0', model: '' })).toMatchObject({ limit: 50, model: undefined });
  });

  test('every parameter is read', () => {
    const id = new Uint8Array(16).fill(7);
    const cases: { readonly [Name in keyof z.infer<typeof listQuery>]-?: readonly [sent: string, read: unknown] } = {
      trace_group_id: ['g', 'g'],
      thread_id: ['t', 't'],
      run_id: ['r', 'r'],
      provider: ['openai', 'openai'],
      model: ['m', 'm'],
      api_key_hash: ['ab', 'ab'],
      usage_status: ['undecodable', 'undecodable'],
      cost_status: ['unpriced', 'unpriced'],
      status: ['200', 200],
      min_tokens: ['1', 1],
      max_tokens: ['10000000', 10_000_000],
      from: ['2026-01-02T03:04:05.006Z', Date.UTC(2026, 0, 2, 3, 4, 5, 6)],
      to: ['2026-01-02', Date.UTC(2026, 0, 3) - 1],
      limit: ['200', 200],
      cursor: [cursorOf(id), Buffer.from(id)],
    };
    const { cursor: after, ...read } = mapped(cases, ([, value]) => value);
    expect(readListQuery(mapped(cases, ([sent]) => sent))).toEqual({ ...read, after });
  });

  test('a fraction finer than the stored precision makes the range narrower, never wider', () => {
    const second = Date.UTC(2026, 0, 1);
    const range = (from: string, to: string) =>
      readListQuery({ from: `2026-01-01T00:00:00${from}Z`, to: `2026-01-01T00:00:00${to}Z` });
    expect(range('.0001', '.0029')).toMatchObject({ from: second + 1, to: second + 2 });
    expect(range('.0010', '.0010')).toMatchObject({ from: second + 1, to: second + 1 });
    // No time lies between these two, and such a query is valid.
    expect(range('.0001', '.0002')).toMatchObject({ from: second + 1, to: second });
  });

  test('1,024 counts characters, not bytes', () => {
    expect(readListQuery({ model: '😀'.repeat(1_024) }).model).toHaveLength(2_048);
    expect(refusal({ model: '😀'.repeat(1_025) })).toBe('model must be at most 1024 characters');
  });

  test.each([
    [{ status: '99' }, 'status must be >= 100'],
    [{ status: '600' }, 'status must be <= 599'],
    [{ status: 'ok' }, 'status must be an integer'],
    [{ limit: '1.5' }, 'limit must be an integer'],
    [{ limit: '201' }, 'limit must be <= 200'],
    [{ limit: '-1' }, 'limit must be >= 0'],
    [{ min_tokens: '10000001' }, 'min_tokens must be <= 10000000'],
    [{ min_tokens: '2', max_tokens: '1' }, 'max_tokens must be greater than or equal to min_tokens'],
    [{ min_tokens: '2', max_tokens: '0' }, 'max_tokens must be greater than or equal to min_tokens'],
    [{ from: 'yesterday' }, 'invalid from: expected RFC3339 or YYYY-MM-DD'],
    [{ from: '2026-02-30' }, 'invalid from: expected RFC3339 or YYYY-MM-DD'],
    [{ from: '2026-02-30T00:00:00Z' }, 'invalid from: expected RFC3339 or YYYY-MM-DD'],
    [{ to: '2026-04-31T10:00:00+02:00' }, 'invalid to: expected RFC3339 or YYYY-MM-DD'],
    [{ to: '2026-01-01T24:00:00Z' }, 'invalid to: expected RFC3339 or YYYY-MM-DD'],
    [{ to: '2026-01-01T00:00:00' }, 'invalid to: expected RFC3339 or YYYY-MM-DD'],
    [{ from: '2026-01-02', to: '2026-01-01' }, 'to must be greater than or equal to from'],
    [{ from: '2026-01-01T00:00:00 02:00' }, 'invalid from: expected RFC3339 or YYYY-MM-DD (in a query, + has to be written %2B)'],
    [{ from: '2026-01-01T00:00:00.0002Z', to: '2026-01-01T00:00:00.0001Z' }, 'to must be greater than or equal to from'],
    [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01' }, 'to must be greater than or equal to from'],
    [{ limit: '99999999999999999999' }, 'limit must be <= 200'],
    [{ limit: '0x10' }, 'limit must be an integer'],
    [
      { form: '2026-01-01' },
      expect.stringMatching(/^unknown query parameter "form"; known parameters: trace_group_id, .*, from, to, /),
    ],
    [{ a: '', b: '1', limit: 'x' }, expect.stringMatching(/^unknown query parameters "a", "b"; known /)],
    [{ '{from}': '1' }, expect.stringMatching(/^unknown query parameter "\{from\}"; /)],
    [{ cursor: 'nonsense' }, 'invalid cursor'],
    [{ cursor: `${cursorOf(new Uint8Array(16))}=` }, 'invalid cursor'],
    [{ model: ['a', 'b'] }, 'model must be given once'],
    [{ model: 'x'.repeat(1025) }, 'model must be at most 1024 characters'],
  ])('%j is refused: %s', (values, message) => {
    expect(refusal(values)).toEqual(message);
  });
});
