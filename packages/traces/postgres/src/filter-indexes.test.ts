import { expect, test } from '@jest/globals';
import { testFilterIndexes } from '@vitrine/traces/testing/filter-indexes';
import { BODY_COLUMNS, TRACE_COLUMNS } from '@vitrine/traces/trace-columns';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const schema = readFileSync(join(import.meta.dirname, '../../../../migrations/schema.sql'), 'utf8');

testFilterIndexes(
  schema.split('\n').filter((line) => line.startsWith('CREATE INDEX ') && line.includes(' ON ONLY public.traces ')),
  {
    provider: 'there are few, and only days with traces of it are read (matching-ranges.ts)',
    min_tokens: 'the index of total_tokens counts the matching traces first (by-tokens.ts)',
    max_tokens: 'as min_tokens',
    from: 'only partitions and ids between those of the hours are read (createdRangeOf)',
    to: 'as from',
  },
  'add one by a migration in migrations/sql, or give a reason in filter-indexes.test.ts of the Postgres store',
);

test.each([
  ['traces', TRACE_COLUMNS],
  ['trace_bodies', BODY_COLUMNS],
])('migrations/schema.sql has every column of %s; a new one needs a migration in migrations/sql', (table, columns) => {
  const [, lines = ''] = new RegExp(String.raw`^CREATE TABLE ${table} \(\n([^;]*)\n\)`, 'm').exec(schema) ?? [];
  const created = Array.from(lines.matchAll(/^ +"?(\w+)/gm), ([, name]) => name);
  expect(columns.map(({ name }) => name).filter((name) => !created.includes(name))).toEqual([]);
  expect(created).toContain('id');
});
