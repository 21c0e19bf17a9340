import { expect, test } from '@jest/globals';
import { BODY_COLUMNS, TRACE_COLUMNS } from '@vitrine/traces/trace-columns';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const schema = readFileSync(join(import.meta.dirname, '../../../../migrations/schema.sql'), 'utf8');

test.each([
  ['traces', TRACE_COLUMNS],
  ['trace_bodies', BODY_COLUMNS],
])('migrations/schema.sql has every column of %s; a new one needs a migration in migrations/sql', (table, columns) => {
  const [, lines = ''] = new RegExp(String.raw`^CREATE TABLE ${table} \(\n([^;]*)\n\)`, 'm').exec(schema) ?? [];
  const created = Array.from(lines.matchAll(/^ +"?(\w+)/gm), ([, name]) => name);
  expect(columns.map(({ name }) => name).filter((name) => !created.includes(name))).toEqual([]);
  expect(created).toContain('id');
});
