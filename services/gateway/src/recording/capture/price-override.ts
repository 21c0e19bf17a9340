import { Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { parsePriceOverride, type PriceOverride } from '@vitrine/trace-derivation/price-override';
import { readFileSync } from 'node:fs';

/** The prices of the file `prices.override_path`, if it is set. Faults: `invalid_price_override`. */
export function readPriceOverride(path: string | undefined): PriceOverride | undefined {
  if (path === undefined) return undefined;
  try {
    return parsePriceOverride(readFileSync(path, 'utf8'));
  } catch (cause) {
    const say = `prices.override_path (SVC_PRICES_OVERRIDE_PATH): ${path}: ${reasonOf(cause)}`;
    throw new Fault('invalid_price_override', { say, cause });
  }
}

/** Why a file is not a valid price list; undefined when it is. */
export function priceOverrideError(path: string): string | undefined {
  try {
    parsePriceOverride(readFileSync(path, 'utf8'));
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  return isFault(error) ? error.say : messageOf(error);
}
