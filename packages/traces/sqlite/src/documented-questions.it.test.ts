import { expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

const DOCS = readFileSync(new URL('../../../../docs/gateway.md', import.meta.url), 'utf8');
const QUESTIONS = [...DOCS.matchAll(/^```sql\n([^]*?)```$/gm)].flatMap(([, sql = '']) =>
  sql.split(';\n').filter((one) => one !== ''),
);

test('every question in the docs has an answer in a trace file', async () => {
  await using folder = await temporaryFolder('questions');
  const path = join(folder.path, 'traces.db');
  using writer = new SqliteTraceWriter(path);
  const now = Date.now();
  const records = [200, 503].map((response_status) => plainTrace(now, { response_status, lineage: { thread_id: 't' } }));
  writer.write(records);
  using database = new DatabaseSync(path, { readOnly: true });
  expect(QUESTIONS).toHaveLength(6);
  for (const sql of QUESTIONS)
    expect([sql, database.prepare(sql).all()]).toEqual([sql, expect.arrayContaining([expect.anything()])]);
});
