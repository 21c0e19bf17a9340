import { postgresOptions, type StorageSettings } from '../../storage/storage-settings.ts';
import { openFileTraces } from './file-traces.ts';
import type { OfflineTraces } from './offline-traces.ts';
import { openPostgresTraces } from './postgres-traces.ts';

/** The traces of the configured store, for commands. Faults: `storage_unusable`, also of every read; `too_many_groups`. */
export function openTraces({ storage }: { readonly storage: StorageSettings }): OfflineTraces {
  const options = postgresOptions(storage, 'commands');
  return options === undefined ? openFileTraces(storage.path) : openPostgresTraces(options);
}
