import pg from 'pg';

/** Values of columns by type: `int8` is a number, and an error beyond 2^53; `numeric` stays a string, because money is exact;
 *  `timestamptz` is milliseconds since the epoch; `date` is `YYYY-MM-DD`, which the driver would parse as local midnight. */
const { INT8, TIMESTAMPTZ, DATE, NUMERIC } = pg.types.builtins;
const toDate = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => Date | number;
export const COLUMN_TYPES: pg.TypeOverrides = new pg.TypeOverrides();
COLUMN_TYPES.setTypeParser(INT8, readInt8);
COLUMN_TYPES.setTypeParser(NUMERIC, asText);
COLUMN_TYPES.setTypeParser(TIMESTAMPTZ, (text) => Number(toDate(text)));
COLUMN_TYPES.setTypeParser(DATE, asText);

function asText(text: string): string {
  return text;
}

function readInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint is beyond 2^53: select it as text');
  return value;
}
