import type { ConfigFault } from '@vitrine/config/config-fault';
import type { DeepPartial } from '@vitrine/config/partial-value';
import { readPepperFile } from '@vitrine/credentials/pepper-file';
import { messageOf } from '@vitrine/faults/fault';
import { KEY_DATABASE } from '@vitrine/gateway-keys/sqlite/key-tables';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import { keyFiles } from '../auth/key-files.ts';
import { priceOverrideError } from '../capture/price-override.ts';
import type { GatewayConfig } from '../config.ts';
import { storageProblems } from './storage-problems.ts';

/** What of a configuration is looked at; a part that is wrong by itself is missing. */
type Parts = DeepPartial<Pick<GatewayConfig, 'auth' | 'prices' | 'storage'>>;

/** What is wrong with the files that a configuration names, although the configuration itself may be valid: with any of them a gateway
 *  would not start. Opens no store, waits for no lock and leaves nothing behind. */
export function fileFaults(config: Parts): ConfigFault[] {
  return [...priceFaults(config), ...storageFaults(config)];
}

export function priceFaults({ prices }: Parts): ConfigFault[] {
  const path = prices?.override_path;
  const flaw = path === undefined ? undefined : priceOverrideError(path);
  const variable = 'SVC_PRICES_OVERRIDE_PATH';
  return flaw === undefined ? [] : [{ path: 'prices.override_path', variable, message: `${path}: ${flaw}` }];
}

function storageFaults({ auth, storage }: Parts): ConfigFault[] {
  const path = storage?.path;
  if (path === undefined) return [];
  const keys = auth?.enabled === true && auth.store === 'database' ? keyFlaws(path, auth.peppers?.length ?? 0) : [];
  const messages = [...new Set([...storageProblems(path, TRACE_FILE), ...keys])];
  return messages.map((message) => ({ path: 'storage.path', variable: 'SVC_STORAGE_PATH', message }));
}

/** Of gateway keys, which are kept beside the traces. Without authentication a gateway starts whatever they are. */
function keyFlaws(storagePath: string, configuredPeppers: number): string[] {
  const { database, pepper } = keyFiles(storagePath);
  return [...storageProblems(database, KEY_DATABASE), ...(configuredPeppers > 0 ? [] : pepperFlaws(pepper))];
}

function pepperFlaws(path: string): string[] {
  try {
    readPepperFile(path);
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}
