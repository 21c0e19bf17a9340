import { testFilterIndexes } from '@vitrine/traces/testing/filter-indexes';
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
