import { expect, test } from '@jest/globals';
import type { Measure } from '@vitrine/traces/trace-measures';
import { usdJson } from '@vitrine/traces/usd';
import { mergeMeasures } from './usage-report.ts';

const measure = (thousands: number, pico: number) =>
  ({ group: 'm', requests: 1, cost: { thousands, pico }, upper: { thousands, pico } }) as Measure;

test.each([
  [[measure(0, 0.1e12), measure(0, 0.2e12)], '0.3'],
  [[measure(9, 1), measure(9, 2), measure(0, 0.1e12)], '18000.100000000003'],
])('costs of several tenants add up to the trillionth', (parts, expected) => {
  const [merged] = mergeMeasures(parts.map((one) => [one]));
  for (const which of ['cost', 'upper'] as const) expect(JSON.stringify(usdJson(merged![which]))).toBe(expected);
});
