import { describe, expect, test } from '@jest/globals';
import { getOperationAST, parse } from 'graphql';
import { operationNameOf } from './operation-name.ts';
import { MAX_ALIASES, MAX_DEPTH, queryLimitError } from './query-limits.ts';
import { Secret } from '@vitrine/config/secret';
import { serviceTokenCheck } from './graphql-route.ts';

const STORE_PAGE = `query ($domain: String!) {
  store(domain: $domain) {
    domain name rank firstObservedAt lastObservedAt catalog { productCount priceRange { p25 median p75 } }
    platform { technology { name } confidence }
    technologies { active confidence firstSeenAt lastSeenAt technology { slug name category vendor website listingUrl } }
  }
}`;
const CANDIDATE_PAGE = `query ($first: Int!) { candidates(first: $first) { nodes { id domain claim status } pageInfo { endCursor } } }`;

const errorOf = (query: string, variables: Record<string, unknown> = {}) =>
  queryLimitError({ document: parse(query), variables });
const nested = (levels: number) => `{ ${'a { '.repeat(levels - 1)}b${' }'.repeat(levels - 1)} }`;
const aliases = (count: number) => `{ ${Array.from({ length: count }, (_, i) => `a${i}: b`).join(' ')} }`;
/** Each fragment uses the previous one twice: 2^n fields. */
const bomb = (n: number, field = 'a') =>
  Array.from({ length: n }, (_, i) => `fragment f${i + 1} on Query { ...f${i} ...f${i} }`).join(' ') +
  ` fragment f0 on Query { ${field} } query { ...f${n} }`;

describe('limits of a query', () => {
  test.each<[string, string, Record<string, unknown>?]>([
    ['the page of a store', STORE_PAGE],
    [
      'ten stores of it',
      `query { ${Array.from({ length: 10 }, (_, i) => `s${i}: store(domain: "a.com") { domain technologies { active technology { name } } }`).join(' ')} }`,
    ],
    ['a full page of candidates', CANDIDATE_PAGE, { first: 200 }],
    ['the deepest', nested(MAX_DEPTH)],
    ['the most aliases', aliases(MAX_ALIASES)],
    [
      'introspection, however deep',
      `{ __schema { types { fields { type { ofType { ofType { ofType { ofType { ofType { ofType { name } } } } } } } } } } }`,
    ],
  ])('%s is allowed', (...[, query, variables]) => {
    expect(errorOf(query, variables)).toBeUndefined();
  });

  test.each<[string, string, RegExp, Record<string, unknown>?]>([
    ['too deep', nested(MAX_DEPTH + 1), /^the query is 11 levels deep; at most 10 are allowed$/],
    ['too deep in a fragment', `query { ...f } fragment f on Query ${nested(MAX_DEPTH + 1)}`, /11 levels deep/],
    ['too deep in an unused fragment', `query { a } fragment f on Query ${nested(MAX_DEPTH + 1)}`, /11 levels deep/],
    ['too many aliases', aliases(MAX_ALIASES + 1), /51 aliases; at most 50/],
    ['aliases by fragments', `query { ...f ...f } fragment f on Query ${aliases(MAX_ALIASES - 10)}`, /80 aliases/],
    ['too many items', `{ ${'candidates(first: 200) { nodes { id domain claim } } '.repeat(3)} }`, /costs 2403 fields/],
    [
      'items by a variable',
      `query ($n: Int!) { ${'candidates(first: $n) { nodes { id domain claim } } '.repeat(3)} }`,
      /costs 2403/,
      { n: 1e9 },
    ],
    [
      'items by a variable that is none',
      `query ($n: Int!) { ${'candidates(first: $n) { nodes { id domain claim } } '.repeat(3)} }`,
      /costs 2403/,
    ],
    ['a bomb of fragments', bomb(60), /costs 2048 fields/],
    ['a bomb that asks for the names of types', bomb(60, '__typename'), /costs 2048 fields/],
    ['the name of a type by many aliases', aliases(51).replaceAll(': b', ': __typename'), /51 aliases/],
    ['a circle of fragments', 'query { ...a } fragment a on Query { ...b } fragment b on Query { ...a }', /circle/],
    ['a fragment of itself', 'query { ...a } fragment a on Query { b { ...a } }', /circle/],
  ])('%s is refused with the limit', (...[, query, error, variables]) => {
    expect(errorOf(query, variables)).toMatch(error);
  });
});

test('an operation is named by its root fields, and each fragment is visited once', () => {
  const nameOf = (query: string) => {
    const document = parse(query);
    const operation = getOperationAST(document);
    return operation ? operationNameOf(document, operation) : undefined;
  };
  expect(nameOf(bomb(200, 'store'))).toBe('store');
  expect(nameOf('{ ...f store } fragment f on Query { ... { technology } ...f }')).toBe('several');
  expect(nameOf('{ ...f } fragment f on Query { __typename }')).toBe('introspection');
});

test('only the service token, alone in its header, is accepted; without a configured token every request is rejected', () => {
  const isAllowed = serviceTokenCheck(new Secret('a-service-token-of-32-characters'));
  const allowed = ['Bearer a-service-token-of-32-characters', 'bearer   a-service-token-of-32-characters'];
  expect(allowed.map((header) => isAllowed([header]))).toEqual([true, true]);
  const refused = ['', 'Bearer', 'Bearer x', 'Basic a-service-token-of-32-characters', 'Bearer a-service-token-of-32-characterS'];
  expect(refused.map((header) => isAllowed([header]))).toEqual(refused.map(() => false));
  expect([isAllowed([]), isAllowed([allowed[0] ?? '', allowed[0] ?? '']), serviceTokenCheck(undefined)(['Bearer '])]).toEqual([
    false,
    false,
    false,
  ]);
});
