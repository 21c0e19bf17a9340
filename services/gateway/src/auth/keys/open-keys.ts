import { openPepperFile } from '@vitrine/credentials/pepper-file';
import { createPepperText, readPepper, type Pepper } from '@vitrine/credentials/pepper';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { Fault, messageOf } from '@vitrine/faults/fault';
import type { AuditEventPage, AuditQuery } from '@vitrine/gateway-keys/audit-event-page';
import type { KeyTokens } from '@vitrine/gateway-keys/key-store';
import type { Logger } from '@vitrine/telemetry/logger';
import { makeFolder } from '@vitrine/sqlite/make-folder';
import { keepPrivate } from '@vitrine/sqlite/private-file';
import { randomBytes } from 'node:crypto';
import { GatewayKeys, type KeyMaterial } from './gateway-keys.ts';
import type { RedactPath } from '@vitrine/privacy/path-redactor';
import type { StorageSettings } from '../../storage/storage-settings.ts';
import { AuditTrail } from '../audit/audit-trail.ts';
import type { AuthConfig, FileKey } from '../auth-config.ts';
import { keyFiles } from './key-files.ts';
import { KeyRing } from './key-ring.ts';
import { openKeyStore, type KeyStoreOptions } from './open-key-store.ts';
import type { KeyRow } from '@vitrine/gateway-keys/key-row';

/** The parts of the configuration that keys depend on. */
interface KeysSettings {
  readonly auth: AuthConfig;
  readonly storage: StorageSettings;
}

/** The gateway keys of this process; nothing is opened before it is needed. */
export type OpenKeys = Awaited<ReturnType<typeof openKeys>>;

interface KeysOptions extends KeyStoreOptions {
  /** For the audit of requests. */
  readonly redactPathFor?: RedactPath;
  /** Milliseconds since the epoch; by default the clock of the process. */
  readonly clock?: () => number;
}

/** Opens the keys of the configured store. */
export async function openKeys(
  config: KeysSettings,
  logger: Logger,
  { thread, redactPathFor, clock = Date.now }: KeysOptions = {},
) {
  const opened = await openKeyStore(config.storage, { thread });
  const { store, place, poolFigures } = opened;
  const trail = new AuditTrail({ store, logger, redactPathFor, clock, steadyClock: () => performance.now() });
  const readAt = clock();
  let made: KeyMaterial | undefined;
  const material = () => (made ??= keyMaterial(config, readAt, clock));
  const isMutable = config.auth.store === 'database';
  const keys = new GatewayKeys({ store, isMutable, material, trail, random: randomBytes, clock });
  return {
    /** Where the keys are stored, for messages. */
    place,
    store,
    poolFigures,
    trail,
    keys,
    /** Includes denials that are not written yet. Faults: `key_store_unavailable`. */
    listAudit: async (query: AuditQuery): Promise<AuditEventPage> => {
      // Denials are written up to a second later, and are often listed just after one was seen.
      await trail.flush();
      return store.listAudit(query);
    },
    /** Faults: `pepper_unusable`, `storage_unusable`. */
    material,
    async [Symbol.asyncDispose]() {
      await trail[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

function keyMaterial({ auth, storage }: KeysSettings, readAt: number, clock: () => number): KeyMaterial {
  const hashes = new TokenHashes(peppersOf(auth, storage, readAt));
  const fixed = fileKeyRows(auth.keys, hashes, readAt);
  return { hashes, fixed, ring: new KeyRing(hashes, fixed, clock) };
}

function peppersOf({ peppers, store }: AuthConfig, { driver, path }: StorageSettings, now: number): readonly Pepper[] {
  if (peppers.length > 0) return peppers;
  // Hashes that are stored nowhere need no stored pepper.
  if (store === 'file') return [readPepper(createPepperText(randomBytes, now))].filter((one) => one !== undefined);
  if (driver === 'postgres')
    throw new Fault('pepper_unusable', { say: 'auth.peppers is empty: gateways on Postgres need a common pepper there' });
  const { folder, pepper } = keyFiles(path);
  try {
    makeFolder(folder);
  } catch (cause) {
    throw new Fault('storage_unusable', { say: `${folder} cannot be created: ${messageOf(cause)}`, cause });
  }
  const opened = openPepperFile(pepper, randomBytes, now);
  keepPrivate(pepper);
  return opened;
}

/** The keys of the YAML file as rows, created when the process read them. */
function fileKeyRows(keys: readonly FileKey[], hashes: TokenHashes, readAt: number): KeyRow[] {
  return keys.map(({ id, org_id, workspace_id, name, description, role, permissions, plan, token }) => ({
    id,
    org_id,
    workspace_id,
    name,
    description,
    created_by: 'system',
    role,
    permissions,
    plan,
    created_at: readAt,
    last_used_at: undefined,
    managed_by: undefined,
    managed_resource: undefined,
    revision: 0,
    ...hashes.hash(token.reveal()),
  }));
}

/** The hashes that the store reserves for them. A token removed from the file, or changed there, stays reserved like a rotated one. */
export function fileKeyTokens(keys: readonly FileKey[], hashes: TokenHashes): KeyTokens[] {
  return keys.map(({ id, token }) => ({ id, known: hashes.all(token.reveal()) }));
}
