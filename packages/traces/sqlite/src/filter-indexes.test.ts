import { testFilterIndexes } from '@vitrine/traces/testing/filter-indexes';
import { DatabaseSync } from 'node:sqlite';
import { createTraceTables } from './trace-tables.ts';

const database = new DatabaseSync(':memory:');
createTraceTables(database);
const indexes = database
  .prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'traces' AND sql IS NOT NULL")
  .all();

testFilterIndexes(
  indexes.map(({ sql }) => String(sql)),
  {
    min_tokens: 'an index has their magnitude, then the id (TOKENS_MAGNITUDE)',
    max_tokens: 'as min_tokens',
    from: 'only the ids between those of the hours are read (created-range.ts)',
    to: 'as from',
  },
  'append one to STEPS of trace-tables.ts and to its INDEXES, or give a reason in filter-indexes.test.ts of the SQLite store',
);
