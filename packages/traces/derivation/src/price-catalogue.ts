import type * as genaiPrices from '@pydantic/genai-prices';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import type { Provider } from '@vitrine/traces/trace';
import type { PriceOverride } from './price-override.ts';
import { ratesFrom, type Rates } from './price-rates.ts';
import { MODEL_PRICES } from './price-supplement.ts';

export interface PriceCatalogue {
  readonly version: string;
  /** The rates of a model on the day of `at`; undefined when it has no known price: unknown is not zero. About 0.2 µs. */
  rates(provider: Provider, model: string, at: Date): Rates | undefined;
  /** The rates that stand in for those of an unknown model in upper bounds. */
  standIn(provider: Provider, at: Date): Rates | undefined;
}

/** The models whose prices stand in for unknown ones. */
export type UnknownModels = Readonly<Record<'openai' | 'anthropic', string>>;
export const UNKNOWN_MODELS: UnknownModels = { openai: 'gpt-5.5', anthropic: 'claude-opus-4-6' };

const SOURCE = '@pydantic/genai-prices';
const require = createRequire(import.meta.url);
const VERSION = installedVersion();
const MAX_CACHED = 4096;
const MAX_MODEL_LENGTH = 256;
/** The maker of a model, as routers write it before its name. */
const VENDOR_PREFIX = /^(?:openai|anthropic)\//i;

/** Prices of `@pydantic/genai-prices` as bundled (it is never asked to refresh itself), overrides first. Spec: G11.24.
 *  The library finds a model's price once per model and UTC day, in 15 µs; the arithmetic is ours. */
export function openPriceCatalogue({
  override,
  unknownModel = UNKNOWN_MODELS,
}: { readonly override?: PriceOverride | undefined; readonly unknownModel?: UnknownModels | undefined } = {}): PriceCatalogue {
  const cache = new Map<string, Rates | undefined>();
  let day = 0;

  const rates = (provider: Provider, name: string, at: Date): Rates | undefined => {
    if (provider === 'unknown' || name.length > MAX_MODEL_LENGTH) return undefined;
    const today = Math.floor(at.getTime() / DAY_MS);
    if (today !== day || cache.size >= MAX_CACHED) cache.clear();
    day = today;
    const key = `${provider} ${name}`;
    const known = cache.get(key);
    if (known !== undefined || cache.has(key)) return known;
    const found = overriddenRates(override, provider, name) ?? listedRates(provider, plainName(name), at);
    cache.set(key, found);
    return found;
  };

  return {
    version: override === undefined ? VERSION : `${VERSION}+override.${override.version}`,
    rates,
    standIn: (provider, at) => (provider === 'unknown' ? undefined : rates(provider, unknownModel[provider], at)),
  };
}

/** A model's name as price lists have it. */
export function plainName(model: string): string {
  return model.replace(VENDOR_PREFIX, '');
}

/** The library does not export its version, so it is read from the manifest beside its code. */
function installedVersion(): string {
  const manifest = require(join(dirname(require.resolve(SOURCE)), '..', 'package.json')) as { readonly version: string };
  return manifest.version;
}

function overriddenRates(override: PriceOverride | undefined, provider: Provider, model: string): Rates | undefined {
  const name = model.trim().toLowerCase();
  const found = override?.models.find((one) => one.provider === provider && isMatch(one.match.toLowerCase(), name));
  return override && found && ratesFrom(found.prices, 'override', override.version);
}

function isMatch(match: string, name: string): boolean {
  return match.endsWith('*') ? name.startsWith(match.slice(0, -1)) : name === match;
}

function listedRates(provider: Provider, model: string, at: Date): Rates | undefined {
  // Loaded with the first model, so that startup does not wait for it: 22 ms of CPU.
  const { calcPrice } = require(SOURCE) as typeof genaiPrices;
  try {
    const found = calcPrice({}, model, { providerId: provider, timestamp: at });
    if (found === null) return undefined;
    const more = MODEL_PRICES.find((one) => one.provider === provider && one.match.test(model))?.prices;
    return ratesFrom({ ...found.model_price, ...more }, SOURCE, VERSION);
  } catch {
    return undefined;
  }
}
