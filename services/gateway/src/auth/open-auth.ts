import type { AuditLog } from '@vitrine/gateway-keys/audit-log';
import { Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { isReservedKeyId } from '@vitrine/gateway-keys/key-fields';
import type { Logger } from '@vitrine/telemetry/logger';
import type { GatewayConfig } from '../config.ts';
import { authenticateBy, allowAll } from './authenticate.ts';
import type { Authenticate } from './caller.ts';
import { fileKeyTokens } from './file-keys.ts';
import { KeyRefresh } from './key-refresh.ts';
import { LastUsed } from './last-used.ts';
import type { OpenKeys } from './open-keys.ts';

const AUDIT_RETENTION_MS = 365 * 86_400_000;
const AUDIT_RETENTION_INTERVAL_MS = 3_600_000;

const LOOK_AT_STORE = 'look at err and at gateway-keys.db; it is tried again: docs/failure-modes.md#key_store_unavailable';

export interface OpenAuth extends AsyncDisposable {
  readonly authenticate: Authenticate;
  /** Whether keys of the store cannot be refreshed at the moment. */
  readonly isRefreshFailing: () => boolean;
}

/** Opens authentication as configured; with authentication off that is the retention of audit events alone. `clock`: milliseconds, only forward. Faults:
 *  `pepper_unusable`, `storage_unusable`. */
export async function openAuth(
  { auth }: GatewayConfig,
  { path, store, material }: OpenKeys,
  logger: Logger,
  clock: () => number,
): Promise<OpenAuth> {
  await using opened = new AsyncDisposableStack();
  const keepAudit = () =>
    opened.use(
      keepAuditRetention(store, (error) =>
        logger.error({ err: error, next_step: LOOK_AT_STORE }, 'old audit events were not removed'),
      ),
    );
  if (!auth.enabled) {
    // There are changes of keys and refusals by pii policy all the same.
    keepAudit();
    const keeping = opened.move();
    return { authenticate: allowAll, isRefreshFailing: () => false, [Symbol.asyncDispose]: () => keeping.disposeAsync() };
  }
  const { ring } = material();
  let refresh: KeyRefresh | undefined;
  if (auth.store === 'database') {
    refresh = new KeyRefresh({
      store,
      ring,
      clock,
      onError: (error) => logger.error({ err: error, next_step: LOOK_AT_STORE }, 'keys not refreshed'),
    });
    let taken: string[];
    try {
      await refresh.refresh();
      taken = await store.keepTokens(fileKeyTokens(auth.keys, material().hashes));
    } catch (cause) {
      throw new Fault('storage_unusable', { say: `${path} cannot be opened: ${reasonOf(cause)}`, cause });
    }
    const onError = (error: unknown) => logger.error({ err: error, next_step: LOOK_AT_STORE }, 'last_used_at was not written');
    opened.use(new LastUsed(ring, store, onError));
    opened.use(refresh);
    refresh.start();
    warn(ring, auth, logger);
    warnOfKeys(ring.ids, taken, logger);
  }
  keepAudit();
  const running = opened.move();
  return {
    authenticate: authenticateBy(ring, { header: auth.header, isFresh: () => refresh?.isFresh ?? true, now: Date.now }),
    isRefreshFailing: () => refresh?.isFailing ?? false,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** What lets nobody in is said at once, with the way out. */
function warn(ring: { readonly size: number; readonly unverifiable: number }, auth: GatewayConfig['auth'], logger: Logger): void {
  if (ring.size === 0) {
    const make = 'run "gateway keys create --role owner" beside it, or give a key under auth.keys';
    logger.warn(`auth.enabled is true and there is no gateway key, so every request is refused: ${make}`);
  }
  if (ring.unverifiable > 0) {
    const where = auth.peppers.length > 0 ? 'auth.peppers' : 'gateway-keys.pepper';
    const what = 'gateway keys were made with a pepper that is not there any more, and are refused';
    logger.warn({ count: ring.unverifiable }, `${what}: put it back into ${where}, or rotate them`);
  }
}

/** What an earlier version let be made, and what whoever runs the machine may do and should know of: `withTakenToken` are keys of the
 *  file with a token that was rotated away or revoked, which lets in whoever still has it. */
function warnOfKeys(ids: readonly string[], withTakenToken: readonly string[], logger: Logger): void {
  const reserved = ids.filter(isReservedKeyId);
  if (reserved.length > 0) {
    const what = "gateway keys have an id that is reserved, so that audit events of theirs look like those of nobody's key";
    logger.warn({ key_ids: reserved }, `${what}: make others and revoke them`);
  }
  if (withTakenToken.length > 0) {
    const what = 'keys under auth.keys have a token that another gateway key has or had';
    logger.warn({ key_ids: withTakenToken }, `${what}: whoever has that token is let in as these; give them new tokens`);
  }
}

/** Removes audit events after 365 days, at the start and every hour. Spec: gateway decisions, section 6. */
function keepAuditRetention(store: Pick<AuditLog, 'removeAuditBefore'>, report: (error: unknown) => void): Disposable {
  const removeAll = async () => {
    while ((await store.removeAuditBefore(Date.now() - AUDIT_RETENTION_MS)) > 0);
  };
  const run = () => void removeAll().catch(report);
  const timer = setInterval(run, AUDIT_RETENTION_INTERVAL_MS);
  timer.unref();
  run();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** A store's fault tells callers little; its log tells why. */
export function reasonOf(error: unknown): string {
  const reason = isFault(error) ? error.log['reason'] : undefined;
  return typeof reason === 'string' ? reason : messageOf(error);
}
