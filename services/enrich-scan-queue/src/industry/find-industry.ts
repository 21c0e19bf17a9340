import type { ObservationFacts } from '@vitrine/stores/observation/observation-facts';
import type { CatalogProduct } from '../catalog/catalog-page.ts';
import { DECLARED_INDUSTRIES, INDUSTRY_WORDS } from './industry-words.ts';

type ClassifiedProduct = Pick<CatalogProduct, 'title' | 'labels'>;

/** Minimum number of products for a vote. Spec: S8.13. */
const FEWEST_PRODUCTS = 10;
/** Maximum number of products in a vote; more would not change it. */
const MOST_PRODUCTS = 500;
/** The winner needs this share of all products, and this multiple of the second. */
const WINNING_PART = 0.5;
const WINNING_LEAD = 2;

const INDUSTRY_OF_WORD = new Map(
  Object.entries(INDUSTRY_WORDS).flatMap(([industry, words]) =>
    words.split(/\s+/).map((word): [string, string] => [word, industry]),
  ),
);

/**
 * `declared` if structured data names one kind of shop, else `classified` by a vote of products; null if neither is clear. @param types
 * - of the organisation in structured data
 */
export function findIndustry(types: readonly string[], products: readonly ClassifiedProduct[]): ObservationFacts['industry'] {
  const declared = new Set(types.map((type) => ownValue(DECLARED_INDUSTRIES, type)).filter((slug) => slug !== undefined));
  if (declared.size === 1) return { slug: [...declared][0] ?? null, basis: 'declared' };
  const voters = products.slice(0, MOST_PRODUCTS);
  if (voters.length < FEWEST_PRODUCTS) return { slug: null, basis: null };

  const [best, next] = ranked(voters.flatMap((product) => industryOf(product) ?? []));
  const isClear = best !== undefined && best[1] >= WINNING_PART * voters.length && best[1] >= WINNING_LEAD * (next?.[1] ?? 0);
  return isClear ? { slug: best[0], basis: 'classified' } : { slug: null, basis: null };
}

const ownValue = (record: Readonly<Record<string, string>>, key: string) =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** The industry that most words of a product belong to. Labels come first, because titles contain colours and names of people. */
function industryOf({ title, labels }: ClassifiedProduct): string | undefined {
  return mostFrequent(labels.flatMap(wordsOf)) ?? mostFrequent(wordsOf(title));
}

function mostFrequent(words: readonly string[]): string | undefined {
  const [best, next] = ranked(words.flatMap((word) => INDUSTRY_OF_WORD.get(word) ?? []));
  return best === undefined || best[1] === next?.[1] ? undefined : best[0];
}

/** Each value with how often it occurs, the most frequent first. */
function ranked(values: readonly string[]): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1]);
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\d]+(?:-[\p{L}\d]+)*/gu) ?? [];
