import pg from 'pg';

/** Values of columns by type, decided once: `int8` is a number, and an error beyond 2^53; `numeric` stays a text, because money is exact;
 *  `timestamptz` is milliseconds since the epoch; `date` is `YYYY-MM-DD`, of which the driver would make local midnight. */
const { INT8, TIMESTAMPTZ, DATE, NUMERIC } = pg.types.builtins;
const toDate = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => Date | number;
export const COLUMN_TYPES: pg.TypeOverrides = new pg.TypeOverrides();
COLUMN_TYPES.setTypeParser(INT8, readInt8);
COLUMN_TYPES.setTypeParser(NUMERIC, asText);
COLUMN_TYPES.setTypeParser(TIMESTAMPTZ, readTime);
COLUMN_TYPES.setTypeParser(DATE, asText);

function asText(text: string): string {
  return text;
}

function readInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint is beyond 2^53: select it as text');
  return value;
}

/** In UTC, as most servers are set, it takes a quarter of the driver's time: 5 ms for a month by model and hour. `Date.parse` takes the
 *  first hundred years for those around 2000. */
function readTime(text: string): number {
  return text.endsWith('+00') && !text.startsWith('00') ? Date.parse(text) : Number(toDate(text));
}
