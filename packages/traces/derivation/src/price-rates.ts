import type { ModelPrice } from '@pydantic/genai-prices';
import type { COST_PARTS } from '@vitrine/traces/trace-values';
import { PICO_PER_USD } from '@vitrine/traces/usd';
import type { Factor } from './price-supplement.ts';
import type { TokenCounts } from './token-counts.ts';

/** Trillionths of a dollar for one token or second, which may depend on the call's whole input. List prices are whole numbers of these, so
 *  that only smaller parts in an override are rounded. */
interface Rate {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** Undefined rates are not priced separately by the model. Such tokens cost the plain rate. */
export interface Rates {
  readonly input: Rate;
  readonly output: Rate;
  readonly cached: Rate | undefined;
  readonly cacheWrite: Rate | undefined;
  readonly cacheWrite1h: Rate | undefined;
  readonly audioIn: Rate | undefined;
  readonly cachedAudio: Rate | undefined;
  readonly audioOut: Rate | undefined;
  readonly imageIn: Rate | undefined;
  readonly imageOut: Rate | undefined;
  readonly second: Rate | undefined;
  /** Trillionths for each request. */
  readonly request: number;
  /** Whether tokens have a price, not only seconds. */
  readonly hasTokens: boolean;
  readonly source: string;
  readonly version: string;
}

const FREE: Rate = { base: 0, tiers: [] };
const SECONDS_PER_HOUR = 3_600;

/** Undefined for a model priced neither by tokens nor by the hour. A model without any price is free. */
export function ratesFrom(prices: ModelPrice, source: string, version: string): Rates | undefined {
  const named = Object.values(prices).filter((price) => price !== undefined).length;
  const input = rateOf(prices['input_mtok']);
  const second = rateOf(prices['input_audio_hours'] ?? prices['audio_hours'], PICO_PER_USD / SECONDS_PER_HOUR);
  if (named > 0 && input === undefined && second === undefined) return undefined;
  return {
    input: input ?? FREE,
    output: rateOf(prices['output_mtok']) ?? FREE,
    cached: rateOf(prices['cache_read_mtok']),
    cacheWrite: rateOf(prices['cache_write_mtok']),
    cacheWrite1h: rateOf(prices['cache_write_1h_mtok']),
    audioIn: rateOf(prices['input_audio_mtok']),
    cachedAudio: rateOf(prices['cache_audio_read_mtok']),
    audioOut: rateOf(prices['output_audio_mtok']),
    imageIn: rateOf(prices['input_image_mtok']),
    imageOut: rateOf(prices['output_image_mtok']),
    second,
    request: rateOf(prices['request'], PICO_PER_USD)?.base ?? 0,
    hasTokens: named === 0 || input !== undefined,
    source,
    version,
  };
}

/** `unitPico`: trillionths for one unit per dollar of list price. Lists have dollars per million tokens. */
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

/** What a call costs, in trillionths of a dollar, by part. */
export type CostParts = Readonly<Record<(typeof COST_PARTS)[number], number>>;
export const NO_COST: CostParts = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0, tools: 0 };

/** Parts with their own rate are subtracted from the side's tokens, and the rest costs the plain rate. `size`: the input by which a price may
 *  depend on the size of the call. */
export function costOf(
  rates: Rates,
  counts: TokenCounts,
  reasoning: number,
  factor: Factor,
  size: number = counts.input,
): CostParts {
  const priced = (rate: Rate, tokens: number): number => (tokens * priceAt(rate, size) * factor.times) / factor.over;
  const audio = counts.audioIn - counts.cachedAudio;
  const cached = counts.cached - counts.cachedAudio;
  const hourRate = rates.cacheWrite1h ?? rates.cacheWrite ?? rates.input;
  const shortWrites = counts.cacheWrite - counts.cacheWrite1h;
  const fresh = Math.max(0, counts.input - counts.cached - counts.cacheWrite - audio - counts.imageIn);
  const plainOut = Math.max(0, counts.output - counts.audioOut - counts.imageOut);
  const thought = Math.min(reasoning, plainOut);
  return {
    input: priced(rates.input, fresh) + priced(rates.imageIn ?? rates.input, counts.imageIn),
    cache_read: priced(rates.cached ?? rates.input, cached),
    cache_write: priced(rates.cacheWrite ?? rates.input, shortWrites) + priced(hourRate, counts.cacheWrite1h),
    output: priced(rates.output, plainOut - thought) + priced(rates.imageOut ?? rates.output, counts.imageOut),
    reasoning: priced(rates.output, thought),
    audio:
      priced(rates.audioIn ?? rates.input, audio) +
      priced(rates.cachedAudio ?? rates.cached ?? rates.audioIn ?? rates.input, counts.cachedAudio) +
      priced(rates.audioOut ?? rates.output, counts.audioOut) +
      priced(rates.second ?? FREE, counts.seconds),
    tools: rates.request,
  };
}

export function totalOf(parts: CostParts): number {
  return parts.input + parts.cache_read + parts.cache_write + parts.output + parts.reasoning + parts.audio + parts.tools;
}

export function sumOfCosts(costs: readonly CostParts[]): CostParts {
  return costs.length === 1 && costs[0] !== undefined ? costs[0] : costs.reduce(plus, NO_COST);
}

function plus(left: CostParts, right: CostParts): CostParts {
  return {
    input: left.input + right.input,
    cache_read: left.cache_read + right.cache_read,
    cache_write: left.cache_write + right.cache_write,
    output: left.output + right.output,
    reasoning: left.reasoning + right.reasoning,
    audio: left.audio + right.audio,
    tools: left.tools + right.tools,
  };
}

/** A tier's price applies to all tokens of a call whose input is above its start. */
function priceAt(rate: Rate, wholeInput: number): number {
  let price = rate.base;
  for (const tier of rate.tiers) if (wholeInput > tier.start) price = tier.price;
  return price;
}
