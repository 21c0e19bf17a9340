import { invalidConfig, type ConfigFault } from '@vitrine/config/read-config';
import type { DeepPartial } from '@vitrine/config/partial-value';
import { Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { openPriceCatalogue, UNKNOWN_MODELS, type UnknownModels } from '@vitrine/trace-derivation/price-catalogue';
import { parsePriceOverride, type PriceOverride } from '@vitrine/trace-derivation/price-override';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const model = z.string().min(1).max(256);

/** `prices`. Spec: G16.9. */
export const pricesConfig = z
  .strictObject({
    override_path: z.string().min(1).optional(),
    /** The models whose prices stand in for unknown ones in upper bounds, by provider. */
    unknown_model: z
      .strictObject({ openai: model.default(UNKNOWN_MODELS.openai), anthropic: model.default(UNKNOWN_MODELS.anthropic) })
      .prefault({}),
  })
  .prefault({});
export type PriceSettings = z.output<typeof pricesConfig>;

/** The arguments of `openPriceCatalogue`. Faults: `invalid_price_override`, and `invalid_config` for a stand-in without a price. */
export function readPrices({ override_path: path, unknown_model: unknownModel }: PriceSettings) {
  const override = path === undefined ? undefined : readOverride(path);
  const faults = standInFaults(unknownModel, override);
  if (faults.length > 0) throw invalidConfig(faults);
  return { override, unknownModel };
}

/** What `readPrices` would throw, for a configuration that may have other faults. */
export function priceFaults({
  override_path: path,
  unknown_model: unknownModel = {},
}: DeepPartial<PriceSettings> = {}): ConfigFault[] {
  try {
    return standInFaults(unknownModel, path === undefined ? undefined : parsePriceOverride(readFileSync(path, 'utf8')));
  } catch (error) {
    return [{ path: 'prices.override_path', variable: 'SVC_PRICES_OVERRIDE_PATH', message: `${path}: ${reasonOf(error)}` }];
  }
}

function readOverride(path: string): PriceOverride {
  try {
    return parsePriceOverride(readFileSync(path, 'utf8'));
  } catch (cause) {
    const say = `prices.override_path (SVC_PRICES_OVERRIDE_PATH): ${path}: ${reasonOf(cause)}`;
    throw new Fault('invalid_price_override', { say, cause });
  }
}

/** Defaults are not looked up, so that the start does not wait for the price list: 22 ms of CPU. */
function standInFaults(models: DeepPartial<UnknownModels>, override: PriceOverride | undefined): ConfigFault[] {
  const prices = openPriceCatalogue({ override });
  return (['openai', 'anthropic'] as const).flatMap((provider) => {
    const name = models[provider];
    if (name === undefined || name === UNKNOWN_MODELS[provider] || prices.rates(provider, name, new Date()) !== undefined)
      return [];
    const message = `must be a model with a price, in the price list or in the file of prices.override_path; got "${name}"`;
    return [
      { path: `prices.unknown_model.${provider}`, variable: `SVC_PRICES_UNKNOWN_MODEL_${provider.toUpperCase()}`, message },
    ];
  });
}

function reasonOf(error: unknown): string {
  return isFault(error) ? error.say : messageOf(error);
}
