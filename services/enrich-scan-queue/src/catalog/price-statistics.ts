import type { ObservationFacts } from '@vitrine/stores/observation/observation-facts';

/** Minimum number of priced products for statistics, by how much of the catalogue was read. Spec: S8.11. */
const FEWEST_PRICED = { full: 8, first_page: 20, partial: 30 };
/** Minimum share of prices in one currency. */
const ONE_CURRENCY = 0.95;

interface Price {
  readonly amount: number;
  /** null if the endpoint states none. */
  readonly currency: string | null;
}

type PriceStatistics = Pick<NonNullable<ObservationFacts['catalog']>, 'currency' | 'price_range'>;

/**
 * The currency of a catalogue and its quartiles, or null if they would be a guess. @param shopCurrency - from the shop's settings; the
 * only default for prices without a currency
 */
export function priceStatistics(
  prices: readonly Price[],
  coverage: keyof typeof FEWEST_PRICED,
  shopCurrency: string | null,
): PriceStatistics {
  const currencies = prices.map(({ currency }) => currency ?? shopCurrency);
  const currency = prices.length === 0 ? shopCurrency : mainCurrency(currencies);
  const amounts = prices.filter((_, index) => currencies[index] === currency).map(({ amount }) => amount);
  if (currency === null || amounts.length < FEWEST_PRICED[coverage]) return { currency, price_range: null };
  const sorted = Float64Array.from(amounts).toSorted();
  const digits = minorDigits(currency);
  const [p25, median, p75] = [0.25, 0.5, 0.75].map((part) => Number(quantile(sorted, part).toFixed(digits)));
  return { currency, price_range: { p25: p25 ?? 0, median: median ?? 0, p75: p75 ?? 0 } };
}

function mainCurrency(currencies: readonly (string | null)[]): string | null {
  const counts = new Map<string | null, number>();
  for (const currency of currencies) counts.set(currency, (counts.get(currency) ?? 0) + 1);
  const [currency, count] = [...counts].reduce((best, one) => (one[1] > best[1] ? one : best));
  return count >= ONE_CURRENCY * currencies.length ? currency : null;
}

/** Linear between the closest ranks. */
function quantile(sorted: Float64Array, part: number): number {
  const rank = (sorted.length - 1) * part;
  const low = Math.floor(rank);
  const [a, b] = [sorted[low] ?? 0, sorted[Math.min(low + 1, sorted.length - 1)] ?? 0];
  return a + (b - a) * (rank - low);
}

/** Decimal places of a currency. 2 for an unknown code. */
function minorDigits(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}
