import type { ConfigFault } from '@vitrine/config/config-fault';
import type { DeepPartial } from '@vitrine/config/partial-value';
import { readPepperFile } from '@vitrine/credentials/pepper-file';
import { messageOf } from '@vitrine/faults/fault';
import { KEY_DATABASE } from '@vitrine/gateway-keys/sqlite/key-tables';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import { keyFiles } from '../../auth/keys/key-files.ts';
import { priceOverrideError } from '../../recording/capture/price-override.ts';
import type { GatewayConfig } from '../../config.ts';
import { storageProblems } from './storage-problems.ts';

/** The checked parts of a configuration; an invalid part is missing. */
type Parts = DeepPartial<Pick<GatewayConfig, 'auth' | 'prices' | 'storage'>>;

/** Unusable files of a configuration, which itself may be valid: with any of them a gateway would not start. Opens no store, waits for
 *  no lock and leaves nothing behind. */
export function fileFaults(config: Parts): ConfigFault[] {
  return [...priceFaults(config), ...storageFaults(config)];
}

export function priceFaults({ prices }: Parts): ConfigFault[] {
  const path = prices?.override_path;
  const error = path === undefined ? undefined : priceOverrideError(path);
  const variable = 'SVC_PRICES_OVERRIDE_PATH';
  return error === undefined ? [] : [{ path: 'prices.override_path', variable, message: `${path}: ${error}` }];
}

function storageFaults({ auth, storage }: Parts): ConfigFault[] {
  const path = storage?.path;
  if (path === undefined || storage?.driver === 'postgres') return [];
  const keys = auth?.enabled === true && auth.store === 'database' ? keyProblems(path, auth.peppers?.length ?? 0) : [];
  const messages = [...new Set([...storageProblems(path, TRACE_FILE), ...keys])];
  return messages.map((message) => ({ path: 'storage.path', variable: 'SVC_STORAGE_PATH', message }));
}

/** Gateway keys are stored in the folder of the traces. Only a gateway with authentication opens them. */
function keyProblems(storagePath: string, configuredPeppers: number): string[] {
  const { database, pepper } = keyFiles(storagePath);
  return [...storageProblems(database, KEY_DATABASE), ...(configuredPeppers > 0 ? [] : pepperProblems(pepper))];
}

function pepperProblems(path: string): string[] {
  try {
    readPepperFile(path);
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}
