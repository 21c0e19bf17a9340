import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

test('docs/operations.md names the bound of every table, and only existing tables', () => {
  const tables = [...read('../schema.sql').matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+) \(/gm)].map(([, name = '']) => name);
  const [section = ''] = /^## What grows\n[^]*?(?=^## )/m.exec(read('../../docs/operations.md')) ?? [];
  const cells = section.split('\n').flatMap((line) => /^\| (`.*?) \|/.exec(line)?.[1] ?? []);
  const names = cells.flatMap((cell) => [...cell.matchAll(/`([\w*]+)/g)].map(([, name = '']) => name));
  const isNamed = (table: string) => names.some((name) => new RegExp(`^${name.replace('*', '\\w+')}$`).test(table));
  expect(tables.length).toBeGreaterThan(40);
  expect(tables.filter((table) => !isNamed(table))).toEqual([]);
  expect(names.filter((name) => !tables.some((table) => new RegExp(`^${name.replace('*', '\\w+')}$`).test(table)))).toEqual([]);
});

test('every table has a comment, which psql shows with \\dt+', () => {
  const schema = read('../schema.sql');
  const tables = [...schema.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gm)].map(([, name]) => name);
  expect(tables.filter((table) => !schema.includes(`COMMENT ON TABLE ${table} IS '`))).toEqual([]);
});
