import { PepperCheck } from '@vitrine/credentials/pepper-check';
import type { AuditLog } from '@vitrine/gateway-keys/audit-log';
import { Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { isReservedKeyId } from '@vitrine/gateway-keys/key-fields';
import type { Logger } from '@vitrine/telemetry/logger';
import { RetentionLog } from '@vitrine/telemetry/retention-log';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import type { Clocks } from '../storage/clocks.ts';
import type { AuthConfig } from './auth-config.ts';
import { allowAll, authenticateBy } from './authenticate.ts';
import { fileKeyTokens, type OpenKeys } from './keys/open-keys.ts';
import { misplacedKeyTest } from './misplaced-key.ts';
import { KeyRefresh } from './keys/key-refresh.ts';
import { KeyUses } from './keys/key-uses.ts';

const AUDIT_RETENTION_MS = 365 * DAY_MS;
const AUDIT_RETENTION_INTERVAL_MS = 3_600_000;

const LOOK_AT_STORE =
  'look at err and at gateway-keys.db, or the database of storage.dsn; it is tried again: docs/failure-modes.md#key_store_unavailable';

/** Opens authentication as configured; with authentication off only the retention of audit events runs, because key changes and rejections by PII
 *  policy are audited anyway. Faults: `pepper_unusable`, `storage_unusable`. */
export async function openAuth(
  { auth }: { readonly auth: AuthConfig },
  keys: OpenKeys,
  logger: Logger,
  { clock, steadyClock }: Clocks,
) {
  await using opened = new AsyncDisposableStack();
  const isStored = auth.enabled && auth.store === 'database';
  const followed = isStored ? await followKeyStore(auth, keys, logger, steadyClock, opened) : undefined;
  opened.use(keepAuditRetention(keys.store, logger, logStoreError(logger, 'audit retention failed')));
  const isFresh = () => followed?.refresh.isFresh ?? true;
  const pepperProblem = () => followed?.peppers.problem;
  const isComplete = () => pepperProblem() === undefined;
  const ring = auth.enabled ? keys.material().ring : undefined;
  const authenticate = ring ? authenticateBy(ring, { header: auth.header, isFresh, isComplete, now: clock }) : allowAll;
  const hasMisplacedKey = misplacedKeyTest(ring);
  const running = opened.move();
  return {
    authenticate,
    hasMisplacedKey,
    /** Whether keys of the store cannot be refreshed at the moment. */
    isRefreshFailing: () => followed?.refresh.isFailing ?? false,
    /** Why some tokens of the store cannot be verified. */
    pepperProblem,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Reads the stored keys, and keeps ring and store up to date with each other until `opened` is disposed. */
async function followKeyStore(
  auth: AuthConfig,
  { place, store, material }: OpenKeys,
  logger: Logger,
  steadyClock: () => number,
  opened: AsyncDisposableStack,
): Promise<{ readonly refresh: KeyRefresh; readonly peppers: PepperCheck }> {
  const { ring, hashes } = material();
  const configured = hashes.identities;
  const read = () => store.storedPeppers();
  const peppers = new PepperCheck({ configured, read, logger, setting: pepperSetting(auth) });
  const refresh = new KeyRefresh({
    store,
    ring,
    peppers,
    clock: steadyClock,
    onError: logStoreError(logger, 'key refresh failed'),
  });
  let taken: string[];
  try {
    await refresh.refresh();
    taken = await store.keepTokens(fileKeyTokens(auth.keys, hashes));
  } catch (cause) {
    throw new Fault('storage_unusable', { say: `${place} cannot be opened: ${reasonOf(cause)}`, cause });
  }
  opened.use(new KeyUses({ ring, store, peppers, configured, onError: logStoreError(logger, 'key uses not stored') }));
  opened.use(refresh);
  refresh.start();
  warnOfRejections(ring, logger);
  warnOfKeys(ring.ids, taken, logger);
  return { refresh, peppers };
}

/** Where the peppers are, for messages. */
export function pepperSetting({ peppers }: AuthConfig): string {
  return peppers.length > 0 ? 'auth.peppers (SVC_AUTH_PEPPERS)' : 'gateway-keys.pepper';
}

function logStoreError(logger: Logger, message: string): (error: unknown) => void {
  return (error) => logger.error({ err: error, next_step: LOOK_AT_STORE }, message);
}

/** Warns at the start when no request can be accepted. */
function warnOfRejections(ring: { readonly size: number }, logger: Logger): void {
  if (ring.size > 0) return;
  const next_step = 'run "gateway keys create --role owner" beside the gateway, or add a key under auth.keys';
  logger.warn({ next_step }, 'no gateway key exists: every request is rejected');
}

/** Warns of keys that are accepted and should be replaced: with ids that an earlier version allowed, and keys of the file with a token
 *  that was rotated away or revoked (`withTakenToken`), which its former holder can still use. */
function warnOfKeys(ids: readonly string[], withTakenToken: readonly string[], logger: Logger): void {
  const reserved = ids.filter(isReservedKeyId);
  if (reserved.length > 0) {
    const next_step = 'their audit events look like those of system or operator: create other keys and revoke these';
    logger.warn({ key_ids: reserved, next_step }, 'gateway keys have a reserved id');
  }
  if (withTakenToken.length > 0) {
    const next_step = 'rotate their tokens: everyone with such a token is accepted as that key';
    logger.warn({ key_ids: withTakenToken, next_step }, 'keys under auth.keys have a token that another gateway key has or had');
  }
}

/** Removes audit events after 365 days, at the start and every hour. Spec: G17.2. */
function keepAuditRetention(
  store: Pick<AuditLog, 'advanceRetention' | 'removeAuditBefore'>,
  logger: Logger,
  report: (error: unknown) => void,
): Disposable {
  const log = new RetentionLog(logger);
  const removeAll = async () => {
    const run = await store.advanceRetention();
    if (run === undefined) return;
    log.began(run);
    await log.removeAll(() => store.removeAuditBefore(run.at - AUDIT_RETENTION_MS));
  };
  const run = () => void removeAll().catch(report);
  const timer = setInterval(run, AUDIT_RETENTION_INTERVAL_MS).unref();
  run();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** The reason of a store's fault, which its message does not contain. */
export function reasonOf(error: unknown): string {
  const reason = isFault(error) ? error.log['reason'] : undefined;
  return typeof reason === 'string' ? reason : messageOf(error);
}
