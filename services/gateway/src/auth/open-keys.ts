import { openPepperFile } from '@vitrine/credentials/pepper-file';
import { createPepperText, readPepper, type Pepper } from '@vitrine/credentials/pepper';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { Fault, messageOf } from '@vitrine/faults/fault';
import type { AuditEventPage, AuditQuery } from '@vitrine/gateway-keys/audit-event-page';
import { EmbeddedKeyStore } from '@vitrine/gateway-keys/sqlite/embedded-key-store';
import type { Logger } from '@vitrine/telemetry/logger';
import { makeFolder } from '@vitrine/sqlite/make-folder';
import { keepPrivate } from '@vitrine/sqlite/private-file';
import { randomBytes } from 'node:crypto';
import { GatewayKeys, type KeyMaterial } from '../admin-keys/gateway-keys.ts';
import type { GatewayConfig } from '../config.ts';
import type { RedactPath } from '../privacy/path-redactor.ts';
import { AuditTrail } from './audit-trail.ts';
import { fileKeyRows } from './file-keys.ts';
import { keyFiles } from './key-files.ts';
import { KeyRing } from './key-ring.ts';

/** Gateway keys as this process has them; nothing is opened before it is needed. */
export interface OpenKeys extends AsyncDisposable {
  readonly path: string;
  readonly store: EmbeddedKeyStore;
  readonly trail: AuditTrail;
  readonly keys: GatewayKeys;
  /** With what has been denied until now. Faults: `key_store_unavailable`. */
  readonly listAudit: (query: AuditQuery) => Promise<AuditEventPage>;
  /** Faults: `pepper_unusable`, `storage_unusable`. */
  readonly material: () => KeyMaterial;
}

/** Opens keys and audit events. `hidePath` is for the audit of requests. */
export function openKeys(config: GatewayConfig, logger: Logger, redactPathFor?: RedactPath): OpenKeys {
  const { database: path } = keyFiles(config.storage.path);
  const store = new EmbeddedKeyStore(path);
  const trail = new AuditTrail({ store, logger, redactPathFor, clock: Date.now, steadyClock: () => performance.now() });
  const readAt = Date.now();
  let made: KeyMaterial | undefined;
  const material = () => (made ??= keyMaterial(config, readAt));
  const isMutable = config.auth.store === 'database';
  const keys = new GatewayKeys({ store, isMutable, material, trail, random: randomBytes, clock: Date.now });
  return {
    path,
    store,
    trail,
    keys,
    listAudit: async (query) => {
      // Denials wait up to a second; whoever asks has mostly just seen one.
      await trail.flush();
      return store.listAudit(query);
    },
    material,
    async [Symbol.asyncDispose]() {
      await trail[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

function keyMaterial({ auth, storage }: GatewayConfig, readAt: number): KeyMaterial {
  const hashes = new TokenHashes(peppersOf(auth, storage.path, readAt));
  const fixed = fileKeyRows(auth.keys, hashes, readAt);
  return { hashes, fixed, ring: new KeyRing(hashes, fixed) };
}

function peppersOf({ peppers, store }: GatewayConfig['auth'], storagePath: string, now: number): readonly Pepper[] {
  if (peppers.length > 0) return peppers;
  // Hashes that are kept nowhere need no pepper that is.
  if (store === 'file') return [readPepper(createPepperText(randomBytes, now))].filter((one) => one !== undefined);
  const { folder, pepper } = keyFiles(storagePath);
  try {
    makeFolder(folder);
  } catch (cause) {
    throw new Fault('storage_unusable', { say: `${folder} cannot be made: ${messageOf(cause)}`, cause });
  }
  const opened = openPepperFile(pepper, randomBytes, now);
  keepPrivate(pepper);
  return opened;
}
