import { expect, test } from '@jest/globals';
import { bucketStartOf } from './time-buckets.ts';
import { routeOf } from './trace-measures.ts';

test('buckets are UTC, and weeks begin on Monday', () => {
  const starts = (at: string) =>
    (['hour', 'day', 'week'] as const).map((bucket) => new Date(bucketStartOf(Date.parse(at), bucket)).toISOString());
  expect(starts('2026-11-22T23:59:59.999Z')).toEqual([
    '2026-11-22T23:00:00.000Z',
    '2026-11-22T00:00:00.000Z',
    '2026-11-16T00:00:00.000Z',
  ]);
  expect(starts('2026-11-23T00:00:00.000Z')).toEqual(Array(3).fill('2026-11-23T00:00:00.000Z'));
  expect(starts('1969-12-31T23:30:00.000Z')).toEqual([
    '1969-12-31T23:00:00.000Z',
    '1969-12-31T00:00:00.000Z',
    '1969-12-29T00:00:00.000Z',
  ]);
});

test('a route is the pattern of its provider', () => {
  expect(['openai', 'anthropic', 'unknown'].map(routeOf)).toEqual(['/openai/*', '/anthropic/*', '/other']);
});
