import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  EXACT_BELOW_USD,
  PICO_PER_USD,
  roundUsd,
  thousandsIn,
  picoIn,
  usdJson,
  usdOf,
  usdPartsIn,
  UsdSum,
  usdText,
} from './usd.ts';

/** An amount in trillionths, as an exact decimal. */
function decimal(pico: bigint): string {
  const digits = String(pico).padStart(13, '0');
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, '');
}
const priceMax = EXACT_BELOW_USD * PICO_PER_USD - 1;
/** Prices of every size, in trillionths. */
const price = fc.oneof(
  fc.nat(50_000_000),
  fc.integer({ min: 0, max: 1e12 }),
  fc.integer({ min: 0, max: 1e15 }),
  fc.integer({ min: 1e15 - 5, max: 1e15 + 5 }),
  fc.integer({ min: 0, max: priceMax }),
);

describe('a price', () => {
  test('is printed with exactly its digits', () => {
    fc.assert(
      fc.property(price, (pico) => {
        const text = decimal(BigInt(pico));
        const usd = Number(text);
        expect(Number(JSON.stringify(usd))).toBe(usd);
        if (pico >= 1e6) expect(JSON.stringify(usd)).toBe(text);
        expect(roundUsd(usd)).toBe(usd);
        expect(usdOf(thousandsIn(usd), picoIn(usd, thousandsIn(usd)))).toBe(usd);
      }),
    );
  });

  test('with rounding noise of doubles is corrected', () => {
    expect(roundUsd(0.0000061499999999999996)).toBe(0.00000615);
    expect(JSON.stringify(roundUsd(0.1 + 0.2))).toBe('0.3');
    expect(roundUsd(-0.30000000000000004)).toBe(-0.3);
    expect(roundUsd(123_456.789)).toBe(123_456.789);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), fc.integer({ min: -3, max: 3 }), (pico, ulps) => {
        const usd = pico / PICO_PER_USD;
        expect(roundUsd(usd + ulps * Number.EPSILON * usd)).toBe(usd);
      }),
    );
  });
});

describe('a sum', () => {
  const exactly = (prices: readonly number[]) => prices.reduce((sum, one) => sum + BigInt(one), 0n);
  const summed = (prices: readonly number[]) => {
    const sum = new UsdSum();
    for (const one of prices) sum.add(one / PICO_PER_USD);
    return sum;
  };

  test('is exact to a trillionth, in any order and after any previous sum', () => {
    fc.assert(
      fc.property(fc.array(fc.array(price, { maxLength: 20 }), { maxLength: 8 }), (batches) => {
        const sum = new UsdSum();
        for (const batch of batches) {
          const { thousands, pico } = summed(batch);
          sum.addParts(thousands, pico);
        }
        const expected = decimal(exactly(batches.flat()));
        expect(usdText(sum.thousands, sum.pico)).toBe(expected);
        expect(usdPartsIn(expected)).toEqual({ thousands: sum.thousands, pico: sum.pico });
        expect(sum.usd).toBe(Number(expected));
        expect(JSON.stringify(usdJson(sum))).toBe(sum.usd < EXACT_BELOW_USD ? JSON.stringify(sum.usd) : expected);
      }),
    );
  });

  test('of five million prices is exact', () => {
    const prices = [0.1, 0.00000615, 1.234567890123, 0.3, 999.999999999999];
    const ofHour = new UsdSum();
    for (let i = 0; i < 50_000; i += 1) for (const usd of prices) ofHour.add(usd);
    const sum = new UsdSum();
    for (let hour = 0; hour < 20; hour += 1) sum.addParts(ofHour.thousands, ofHour.pico);
    let inDoubles = 0;
    for (let i = 0; i < 1_000_000; i += 1) for (const usd of prices) inDoubles += usd;
    const expected = decimal(exactly(prices.map((usd) => Math.round(usd * PICO_PER_USD))) * 1_000_000n);
    expect(usdText(sum.thousands, sum.pico)).toBe(expected);
    // Plain doubles would fail this test.
    expect(inDoubles).not.toBe(Number(expected));
  });

  test('of unrealistic amounts stays a number', () => {
    const sum = new UsdSum();
    for (const usd of [1e12, 3e6 + 0.1, 2_999.9999999999995, 8_000_000.3]) sum.add(usd);
    expect(sum.usd / 1_000_011_003_000.4).toBeCloseTo(1, 12);
    expect(sum.pico).toBeGreaterThanOrEqual(0);
  });
});

test('an amount beyond a double is printed with all its digits', () => {
  const parts = { thousands: 50, pico: 123_456_789_012 };
  const usd = usdOf(parts.thousands, parts.pico);
  expect(String(usd)).not.toBe('50000.123456789012');
  expect(JSON.stringify({ total_cost_usd: usdJson(parts) })).toBe('{"total_cost_usd":50000.123456789012}');
  expect(usdText(0, 0)).toBe('0');
  expect(usdText(2, 0)).toBe('2000');
});
