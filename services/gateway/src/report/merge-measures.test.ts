import { expect, test } from '@jest/globals';
import { exactCost } from '@vitrine/traces/measures-to-response';
import type { Measure } from '@vitrine/traces/trace-analytics';
import { mergeMeasures } from './merge-measures.ts';

const measure = (costUsd: number, costThousands: number, costPico: number) =>
  ({ group: 'm', requests: 1, costUsd, costThousands, costPico }) as Measure;

test.each([
  [[measure(0.1, 0, 0.1e12), measure(0.2, 0, 0.2e12)], '0.3'],
  [[measure(9_000, 9, 1), measure(9_000, 9, 2), measure(0.1, 0, 0.1e12)], '18000.100000000003'],
])('costs of several tenants add up to the trillionth', (parts, expected) => {
  const [merged] = mergeMeasures(parts.map((one) => [one]));
  expect(JSON.stringify(exactCost(merged!))).toBe(expected);
});
