import type * as genaiPrices from '@pydantic/genai-prices';
import type { ModelPrice } from '@pydantic/genai-prices';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import type { Provider } from '@vitrine/traces/trace';
import { PICO_PER_USD } from '@vitrine/traces/usd';
import type { PriceOverride } from './price-override.ts';
import type { Usage } from './usage.ts';

/** The cost of an exchange and its price list. An estimate from list prices of the standard tier, in US dollars. */
export interface Price {
  /** To the trillionth: see `usd.ts`. */
  readonly cost_usd: number;
  readonly price_source: string;
  readonly price_version: string;
}

export interface PriceCatalogue {
  readonly version: string;
  /** Undefined when the model has no known price: unknown is not zero. About 0.4 µs. */
  cost(provider: Provider, model: string, usage: Usage, at: Date): Price | undefined;
}

const SOURCE = '@pydantic/genai-prices';
const require = createRequire(import.meta.url);
const VERSION = installedVersion();
const MAX_CACHED = 4096;
const MAX_MODEL_LENGTH = 256;

/** Trillionths of a dollar for one token or search, which may depend on the exchange's whole input. List prices are whole numbers of these, so
 *  that only smaller parts in an override are rounded. */
interface Rate {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** Undefined rates are not priced separately by the model. Such tokens cost the plain rate. */
interface Rates {
  readonly input: Rate;
  readonly output: Rate;
  readonly cached: Rate | undefined;
  readonly cacheWrite: Rate | undefined;
  readonly cacheWrite1h: Rate | undefined;
  readonly audioIn: Rate | undefined;
  readonly audioOut: Rate | undefined;
  readonly imageIn: Rate | undefined;
  readonly imageOut: Rate | undefined;
  readonly webSearches: Rate | undefined;
  readonly source: string;
  readonly version: string;
}

/** Prices of `@pydantic/genai-prices` as bundled (it is never asked to refresh itself), overrides first. Spec: G11.24.
 *  The library finds a model's price once per model and UTC day, in 15 µs; the arithmetic is ours. */
export function openPriceCatalogue({ override }: { readonly override?: PriceOverride | undefined } = {}): PriceCatalogue {
  const cache = new Map<string, Rates | undefined>();
  let day = 0;
  const version = override === undefined ? VERSION : `${VERSION}+override.${override.version}`;

  const ratesOf = (provider: Provider, model: string, at: Date): Rates | undefined => {
    const today = Math.floor(at.getTime() / DAY_MS);
    if (today !== day || cache.size >= MAX_CACHED) cache.clear();
    day = today;
    const key = `${provider} ${model}`;
    const known = cache.get(key);
    if (known !== undefined || cache.has(key)) return known;
    const rates = overriddenRates(override, provider, model) ?? listedRates(provider, model, at);
    cache.set(key, rates);
    return rates;
  };

  return {
    version,
    cost(provider, model, usage, at) {
      if (provider === 'unknown' || model.length > MAX_MODEL_LENGTH) return undefined;
      const rates = ratesOf(provider, model, at);
      return rates && { cost_usd: costOf(rates, usage), price_source: rates.source, price_version: rates.version };
    },
  };
}

/** The library does not export its version, so it is read from the manifest beside its code. */
function installedVersion(): string {
  const manifest = require(join(dirname(require.resolve(SOURCE)), '..', 'package.json')) as { readonly version: string };
  return manifest.version;
}

function overriddenRates(override: PriceOverride | undefined, provider: Provider, model: string): Rates | undefined {
  const name = model.trim().toLowerCase();
  const found = override?.models.find((one) => one.provider === provider && isMatch(one.match.toLowerCase(), name));
  if (override === undefined || found === undefined) return undefined;
  const prices = {
    input_mtok: found.input_usd_per_mtok,
    output_mtok: found.output_usd_per_mtok,
    cache_read_mtok: found.cached_input_usd_per_mtok,
    cache_write_mtok: found.cache_write_usd_per_mtok,
  };
  return ratesFrom(prices, 'override', override.version);
}

function isMatch(match: string, name: string): boolean {
  return match.endsWith('*') ? name.startsWith(match.slice(0, -1)) : name === match;
}

function listedRates(provider: Provider, model: string, at: Date): Rates | undefined {
  // Loaded with the first model, so that startup does not wait for it: 22 ms of CPU.
  const { calcPrice } = require(SOURCE) as typeof genaiPrices;
  try {
    const found = calcPrice({}, model, { providerId: provider, timestamp: at });
    return found === null ? undefined : ratesFrom(found.model_price, SOURCE, VERSION);
  } catch {
    return undefined;
  }
}

/** Undefined for a model not priced by tokens (transcription by the hour). A model without any price is free. */
function ratesFrom(prices: ModelPrice, source: string, version: string): Rates | undefined {
  const named = Object.values(prices).filter((price) => price !== undefined).length;
  if (named > 0 && prices['input_mtok'] === undefined) return undefined;
  return {
    input: rateOf(prices['input_mtok']) ?? FREE,
    output: rateOf(prices['output_mtok']) ?? FREE,
    cached: rateOf(prices['cache_read_mtok']),
    cacheWrite: rateOf(prices['cache_write_mtok']),
    cacheWrite1h: rateOf(prices['cache_write_1h_mtok']),
    audioIn: rateOf(prices['input_audio_mtok']),
    audioOut: rateOf(prices['output_audio_mtok']),
    imageIn: rateOf(prices['input_image_mtok']),
    imageOut: rateOf(prices['output_image_mtok']),
    webSearches: rateOf(prices['web_searches_kcount'], PICO_PER_USD / 1_000),
    source,
    version,
  };
}

const FREE: Rate = { base: 0, tiers: [] };

/** `unitPico`: trillionths for one token or search per dollar of list price. Lists have dollars per million tokens. */
function rateOf(price: ModelPrice[string], unitPico: number = PICO_PER_USD / 1_000_000): Rate | undefined {
  if (price === undefined) return undefined;
  if (typeof price === 'number') return { base: picoRate(price, unitPico), tiers: [] };
  const tiers = price.tiers.map(({ start, price: of }) => ({ start, price: picoRate(of, unitPico) }));
  return { base: picoRate(price.base, unitPico), tiers: tiers.toSorted((left, right) => left.start - right.start) };
}

/** A product of doubles is rounded, and so may miss the exact whole number. */
function picoRate(price: number, unitPico: number): number {
  const rate = price * unitPico;
  const whole = Math.round(rate);
  return Math.abs(rate - whole) <= whole * Number.EPSILON ? whole : rate;
}

type Part = readonly [rate: Rate | undefined, tokens: number | undefined];

/** In dollars, to the trillionth. */
function costOf(rates: Rates, usage: Usage): number {
  const whole = usage.input_tokens;
  const oneHour = Math.min(usage.cache_write_1h_input_tokens, usage.cache_write_input_tokens);
  const otherWrites = usage.cache_write_input_tokens - (rates.cacheWrite1h === undefined ? 0 : oneHour);
  const input = costOfSide(rates.input, usage.input_tokens, whole, [
    [rates.cached, usage.cached_input_tokens],
    [rates.cacheWrite, otherWrites],
    [rates.cacheWrite1h, oneHour],
    [rates.audioIn, usage.audio_input_tokens],
    [rates.imageIn, usage.image_input_tokens],
  ]);
  const output = costOfSide(rates.output, usage.output_tokens, whole, [
    [rates.audioOut, usage.audio_output_tokens],
    [rates.imageOut, usage.image_output_tokens],
  ]);
  const searches = rates.webSearches === undefined ? 0 : rates.webSearches.base * (usage.web_search_requests ?? 0);
  return Math.round(input + output + searches) / PICO_PER_USD;
}

/** Parts with their own rate are subtracted from the side's tokens, and the rest costs the plain rate. Inconsistent counts (more in the parts than
 *  in all) cannot make the rest negative. */
function costOfSide(plain: Rate, tokens: number, wholeInput: number, parts: readonly Part[]): number {
  let left = tokens;
  let cost = 0;
  for (const [rate, count] of parts) {
    if (rate === undefined || count === undefined) continue;
    left -= count;
    cost += count * priceAt(rate, wholeInput);
  }
  return cost + Math.max(0, left) * priceAt(plain, wholeInput);
}

/** A tier's price applies to all tokens of an exchange whose input is above its start. */
function priceAt(rate: Rate, wholeInput: number): number {
  let price = rate.base;
  for (const tier of rate.tiers) if (wholeInput > tier.start) price = tier.price;
  return price;
}
