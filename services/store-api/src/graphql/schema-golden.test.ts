import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { printSchema } from 'graphql';
import { CANDIDATE_FILTERS } from '@vitrine/stores/evidence/candidates';
import { createSchema } from './graphql-route.ts';
import { ROOT_FIELDS } from './operation-name.ts';

/** The schema from which clients of `/graphql` are generated. */
const GOLDEN = new URL('../../../../docs/api/store-api.graphql', import.meta.url);

test('the schema equals the golden file; npm run golden rewrites it', () => {
  const text = `${printSchema(createSchema())}\n`;
  expect(text).toBe(goldenText(GOLDEN, text));
});

test('every root field is counted by its name', () => {
  const schema = createSchema();
  const types = [schema.getQueryType(), schema.getMutationType()];
  expect(types.flatMap((type) => Object.keys(type?.getFields() ?? {}))).toEqual([...ROOT_FIELDS]);
});

test('every argument of candidates is an applied filter or selects a page', () => {
  const fields = createSchema().getQueryType()?.getFields() ?? {};
  const names = fields['candidates']?.args.map(({ name }) => name) ?? [];
  const filters = names.filter((name) => name !== 'first' && name !== 'after');
  const columns = filters.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  expect(columns).toEqual(CANDIDATE_FILTERS);
});
