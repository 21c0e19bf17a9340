import { Fault, isFault, messageOf } from '@vitrine/faults/fault';
import type { AuditStore } from '@vitrine/plans/key-store';
import type { Logger } from '@vitrine/telemetry/logger';
import { existsSync } from 'node:fs';
import type { GatewayConfig } from '../config.ts';
import { authenticateBy, letEverybodyIn } from './authenticate.ts';
import type { Authenticate } from './caller.ts';
import { KeyRefresh } from './key-refresh.ts';
import { LastUsed } from './last-used.ts';
import type { OpenKeys } from './open-keys.ts';

const AUDIT_RETENTION_MS = 365 * 86_400_000;
const AUDIT_RETENTION_INTERVAL_MS = 3_600_000;

/** Opens authentication as configured; with authentication off that is the retention of audit events alone. `clock`: milliseconds, only forward. Faults:
 *  `pepper_unusable`, `storage_unusable`. */
export async function openAuth(
  { auth }: GatewayConfig,
  { path, store, material }: OpenKeys,
  logger: Logger,
  clock: () => number,
): Promise<AsyncDisposable & { readonly authenticate: Authenticate }> {
  await using opened = new AsyncDisposableStack();
  const keepAudit = () =>
    opened.use(keepAuditRetention(path, store, (error) => logger.error({ err: error }, 'old audit events were not removed')));
  if (!auth.enabled) {
    // There are changes of keys and refusals by pii policy all the same.
    keepAudit();
    const keeping = opened.move();
    return { authenticate: letEverybodyIn, [Symbol.asyncDispose]: () => keeping.disposeAsync() };
  }
  const { ring } = material();
  let refresh: KeyRefresh | undefined;
  if (auth.store === 'database') {
    refresh = new KeyRefresh({
      store,
      ring,
      clock,
      onError: (error) => logger.error({ err: error }, 'keys not refreshed'),
    });
    try {
      await refresh.refresh();
    } catch (cause) {
      throw new Fault('storage_unusable', { say: `${path} cannot be opened: ${reasonOf(cause)}`, cause });
    }
    const onError = (error: unknown) => logger.error({ err: error }, 'last_used_at was not written');
    opened.use(new LastUsed(ring, store, onError));
    opened.use(refresh);
    refresh.start();
    warn(ring, auth, logger);
  }
  keepAudit();
  const running = opened.move();
  return {
    authenticate: authenticateBy(ring, { header: auth.header, isFresh: () => refresh?.isFresh ?? true, now: Date.now }),
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

/** Removes audit events after 365 days, at the start and every hour; makes no file for it. Spec: gateway decisions, section 6. */
function keepAuditRetention(path: string, store: AuditStore, report: (error: unknown) => void): Disposable {
  const removeAll = async () => {
    if (!existsSync(path)) return;
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
