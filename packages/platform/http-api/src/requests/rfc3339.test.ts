import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import fc from 'fast-check';
import { isInOrder, MOMENT_PATTERN, notBefore, readDate, readDateTime, type Moment } from './rfc3339.ts';

// The reference: a character-by-character parser of the grammar in RFC 3339, section 5.6, with Howard Hinnant's day count. It uses
// neither Date nor regular expressions.

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const daysIn = (year: number, month: number) =>
  [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;

function dayNumber(year: number, month: number, day: number): bigint {
  const y = BigInt(month <= 2 ? year - 1 : year);
  const era = (y >= 0n ? y : y - 399n) / 400n;
  const yearOfEra = y - era * 400n;
  const dayOfYear = BigInt(Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1);
  return era * 146_097n + yearOfEra * 365n + yearOfEra / 4n - yearOfEra / 100n + dayOfYear - 719_468n;
}

class Refused extends Error {}

/** The moment in units of 10^-30 s, or undefined. */
function reference(text: string): bigint | undefined {
  let at = 0;
  const digits = (count: number) => {
    let value = 0;
    for (let i = 0; i < count; i += 1) {
      const digit = '0123456789'.indexOf(text[at] ?? 'x');
      if (digit < 0) throw new Refused();
      value = value * 10 + digit;
      at += 1;
    }
    return value;
  };
  const oneOf = (characters: string) => {
    const found = text[at] ?? '';
    if (found === '' || !characters.includes(found)) throw new Refused();
    at += 1;
    return found;
  };
  const within = (value: number, min: number, max: number) => {
    if (value < min || value > max) throw new Refused();
    return value;
  };
  try {
    const year = digits(4);
    oneOf('-');
    const month = within(digits(2), 1, 12);
    oneOf('-');
    const day = within(digits(2), 1, daysIn(year, month));
    oneOf('Tt');
    const hour = within(digits(2), 0, 23);
    oneOf(':');
    const minute = within(digits(2), 0, 59);
    oneOf(':');
    const second = within(digits(2), 0, 59);
    let fraction = '';
    if (text[at] === '.') {
      at += 1;
      do fraction += String(digits(1));
      while ('0123456789'.includes(text[at] ?? 'x'));
    }
    let offset = 0;
    if (oneOf('Zz+-').toLowerCase() !== 'z') {
      const sign = text[at - 1] === '-' ? -1 : 1;
      const hours = within(digits(2), 0, 23);
      oneOf(':');
      offset = sign * (hours * 60 + within(digits(2), 0, 59));
    }
    if (at !== text.length) return undefined;
    const seconds = dayNumber(year, month, day) * 86_400n + BigInt((hour * 60 + minute - offset) * 60 + second);
    return seconds * 10n ** 30n + BigInt(fraction.padEnd(30, '0').slice(0, 30));
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

/** A moment in the same unit. */
const exact = ({ ms, beyond }: Moment) => BigInt(ms) * 10n ** 27n + BigInt(beyond.padEnd(27, '0'));

const two = (max: number) => fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, '0'));
const fraction = fc.oneof(
  fc.constant(''),
  fc.stringMatching(/^\.\d{1,30}$/),
  fc.stringMatching(/^\.0{1,9}[19]?0*$/).filter((text) => text.length < 31),
);
const offset = fc.oneof(
  fc.constantFrom('Z', 'z', '+00:00', '-00:00', '+23:59', '-23:59'),
  fc.tuple(fc.constantFrom('+', '-'), two(23), two(59)).map(([sign, hour, minute]) => `${sign}${hour}:${minute}`),
);
const year = fc.oneof(fc.integer({ min: 0, max: 9_999 }), fc.constantFrom(0, 1, 99, 100, 1900, 2000, 2023, 2024, 2100, 9999));
const day = fc
  .tuple(year, fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 30 }))
  .map(([y, month, after]) => [y, month, 1 + (after % daysIn(y, month))] as const)
  .map(([y, m, d]) => `${String(y).padStart(4, '0')}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}`);
const dateTime = fc
  .tuple(day, fc.constantFrom('T', 't'), two(23), two(59), two(59), fraction, offset)
  .map(([date, t, h, m, s, f, o]) => `${date}${t}${h}:${m}:${s}${f}${o}`);

/** Almost RFC 3339: one character is replaced, missing or doubled, or a number is out of range. */
const nearly = fc.oneof(
  fc
    .tuple(dateTime, fc.nat(40), fc.constantFrom('', '0', '9', ' ', '-', ':', '.', ',', 'T', 'Z', '+', '\n', '٣', '6', '24'))
    .chain(([text, at, other]) =>
      fc.constantFrom(
        text.slice(0, at) + other + text.slice(at + 1),
        text.slice(0, at) + other + text.slice(at),
        text + other,
        other + text,
      ),
    ),
  fc
    .tuple(two(99), two(99), two(99), two(99), two(99), two(99), two(99))
    .map(([mo, d, h, mi, s, oh, om]) => `2024-${mo}-${d}T${h}:${mi}:${s}+${oh}:${om}`),
);

describe('date-times', () => {
  test('in every form of RFC 3339 are parsed to the last digit', () => {
    fc.assert(
      fc.property(dateTime, (text) => {
        const moment = readDateTime(text);
        expect(moment && exact(moment)).toBe(reference(text));
        expect(text).toMatch(new RegExp(MOMENT_PATTERN));
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });

  test('in other forms are rejected', () => {
    fc.assert(
      fc.property(nearly, (text) => {
        const moment = readDateTime(text);
        expect(moment && exact(moment)).toBe(reference(text));
      }),
      { numRuns: propertyRuns(5_000) },
    );
  });

  test.each([
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31t12:00:00z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.1Z', '2026-01-31T12:00:00.100Z'],
    ['2026-01-31T12:00:00.123456789+05:30', '2026-01-31T06:30:00.123Z'],
    ['2026-01-01T00:00:00+23:59', '2025-12-31T00:01:00.000Z'],
    ['2026-01-31T12:00:00-00:00', '2026-01-31T12:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['0099-12-31T00:00:00Z', '0099-12-31T00:00:00.000Z'],
  ])('%s is %s', (text, at) => {
    expect(new Date(readDateTime(text)?.ms ?? Number.NaN).toISOString()).toBe(at);
  });

  test.each([
    '2016-12-31T23:59:60Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:60:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-31 12:00:00Z',
    '2026-01-31T12:00:00',
    '2026-01-31T12:00Z',
    '2026-01-31T12:00:00+24:00',
    '2026-01-31T12:00:00+05:60',
    '2026-01-31T12:00:00+0530',
    '2026-01-31T12:00:00+05',
    '2026-01-31T12:00:00 05:30',
    '2026-01-31T12:00:00.Z',
    '2026-01-31T12:00:00,5Z',
    '+002026-01-31T12:00:00Z',
    '-0001-01-31T12:00:00Z',
    '２０２６-01-31T12:00:00Z',
    '2026-01-31T12:00:00Z\n',
    '2026-01-31',
    '',
  ])('%j is refused', (text) => {
    expect(readDateTime(text)).toBeUndefined();
  });
});

describe('dates', () => {
  test('are the first and the last moment of their day', () => {
    fc.assert(
      fc.property(day, (text) => {
        const read = readDate(text);
        expect(read && exact(read.first)).toBe(reference(`${text}T00:00:00Z`));
        expect(read && read.last.ms).toBe((read?.first.ms ?? 0) + 86_399_999);
        const latest = readDateTime(`${text}T23:59:59.999999999999Z`);
        expect(read && latest && isInOrder(latest, read.last)).toBe(true);
        expect(text).toMatch(new RegExp(MOMENT_PATTERN));
      }),
    );
  });

  test.each(['2026-02-30', '2026-1-01', '20260101', '2026-01-01T', '2026-01', '2026-001', ' 2026-01-01'])(
    '%j is none',
    (text) => {
      expect(readDate(text)).toBeUndefined();
    },
  );
});

describe('a range', () => {
  const at = (text: string) => readDateTime(`2026-01-31T12:00:00${text}Z`) ?? { ms: 0, beyond: '' };
  const second = at('').ms;

  test('contains the milliseconds within it: the first is rounded up, the last down', () => {
    expect([notBefore(at('')), notBefore(at('.0010')), notBefore(at('.001000001')), notBefore(at('.0009'))]).toEqual(
      [0, 1, 2, 1].map((ms) => second + ms),
    );
    expect([at('').ms, at('.0010').ms, at('.001999').ms, at('.0009').ms]).toEqual([0, 1, 1, 0].map((ms) => second + ms));
  });

  test('is ordered by its exact ends', () => {
    fc.assert(
      fc.property(dateTime, dateTime, (one, other) => {
        const [a, b] = [readDateTime(one), readDateTime(other)];
        expect(a && b && isInOrder(a, b)).toBe((reference(one) ?? 0n) <= (reference(other) ?? 0n));
      }),
    );
    expect(isInOrder(at('.0001'), at('.0002'))).toBe(true);
    expect(isInOrder(at('.0002'), at('.0001'))).toBe(false);
    expect(isInOrder(at('.00010'), at('.0001'))).toBe(true);
  });
});
