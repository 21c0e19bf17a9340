import { codeOf, Fault } from '@vitrine/faults/fault';
import { planDocument, readPlanDocument, type PlanDocument } from '@vitrine/plans/plan-document';
import { PLAN_CHANNEL, readPlanGeneration, readPlanRows } from '@vitrine/plans/plan-rows';
import { backoffMs } from '@vitrine/postgres/backoff';
import { NotifiedPoll } from '@vitrine/postgres/notified-poll';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import { LivePlans, type PlanSource } from './live-plans.ts';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { postgresOptions, type StorageSettings } from '../../storage/storage-settings.ts';

/** The parts of the configuration that live plans depend on. */
export interface PlansSettings {
  readonly auth: { readonly enabled: boolean };
  readonly limits: { readonly plans_dir?: string | undefined };
  readonly storage: StorageSettings;
}

/** Opens the plans of the configured sources and follows their changes. Undefined where plans come from the configuration alone, and with
 *  authentication off, because then no caller has a plan. A source that cannot be read does not keep the gateway from starting. */
export async function openPlans({ auth, limits, storage }: PlansSettings, logger: Logger) {
  const options = postgresOptions(storage, 'plans');
  const { plans_dir: directory } = limits;
  if (!auth.enabled || (options === undefined && directory === undefined)) return undefined;
  await using opened = new AsyncDisposableStack();
  const pool = options && opened.use(await openPool(options));
  const live = new LivePlans(logger);
  opened.use(await followPlans(live, { pool, directory }, logger));
  const running = opened.move();
  return {
    live,
    poolFigures: (): Readonly<Record<string, PoolFigures>> => (pool === undefined ? {} : { plans: pool.figures() }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function openPool(options: PostgresPoolOptions): Promise<PostgresPool> {
  const { PostgresPool } = await import('@vitrine/postgres/postgres-pool');
  return new PostgresPool({ ...options, maxConnections: 1 });
}

/** Kubelets refresh mounted ConfigMaps once a minute. A read of an unchanged file takes a tenth of a millisecond. */
const DIRECTORY_INTERVAL_MS = 5_000;
const ERROR_LOG_INTERVAL_MS = 30_000;
/** After a failed read of the rows, unless the poll or a new connection of LISTEN comes first. */
const RETRY = { firstMs: 500, maxMs: 15_000 };
const NEXT_STEP = 'the last valid plans stay; see err and docs/failure-modes.md#plans-that-are-not-applied';

export interface PlanSources {
  readonly pool: PostgresPool | undefined;
  /** The folder of a mounted ConfigMap. */
  readonly directory: string | undefined;
  /** How often each is read without a notification. */
  readonly rowsIntervalMs?: number;
  readonly directoryIntervalMs?: number;
}

/** Reads the plans of all sources and follows their changes. Resolves after the first read of each, whether or not it succeeded. */
export async function followPlans(live: LivePlans, sources: PlanSources, logger: Logger): Promise<AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const write = ({ err, source }: FailedRead, count: number) => {
    const message = codeOf(err) === 'invalid_plans' ? 'plans ignored: invalid document' : 'plans refresh failed';
    logger.error({ err, source, count, next_step: NEXT_STEP }, message);
  };
  const errors = opened.use(new LogThrottle(ERROR_LOG_INTERVAL_MS, write));
  const onError = (source: PlanSource) => (err: unknown) => errors.add(`${source} ${codeOf(err)}`, { err, source });
  const { pool, directory, rowsIntervalMs, directoryIntervalMs = DIRECTORY_INTERVAL_MS } = sources;
  const followed = [
    ...(directory === undefined ? [] : [followDirectory(live, directory, directoryIntervalMs, onError('directory'))]),
    ...(pool === undefined ? [] : [followRows(live, pool, rowsIntervalMs, onError('database'))]),
  ];
  for (const one of followed) opened.use(one);
  await Promise.all(followed.map(({ ready }) => ready));
  return opened.move();
}

interface FailedRead {
  readonly err: unknown;
  readonly source: PlanSource;
}

interface Followed extends AsyncDisposable {
  readonly ready: Promise<void>;
}

function followRows(
  live: LivePlans,
  pool: PostgresPool,
  intervalMs: number | undefined,
  onError: (error: unknown) => void,
): Followed {
  let known: number | undefined;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;
  const look = async () => {
    clearTimeout(retry);
    try {
      if ((await readPlanGeneration(pool)) === known) return;
      const { generation, plans, workspaces } = await readPlanRows(pool);
      live.update('database', planDocument(generation, plans), workspaces);
      known = generation;
      failures = 0;
    } catch (error) {
      onError(error);
      if (codeOf(error) === 'invalid_plans') return;
      retry = setTimeout(() => poll.lookAgain(), backoffMs(failures, RETRY, Math.random())).unref();
      failures += 1;
    }
  };
  const poll = new NotifiedPoll(pool, { channel: PLAN_CHANNEL, look, intervalMs });
  return {
    ready: poll.ready,
    [Symbol.asyncDispose]: async () => {
      await poll[Symbol.asyncDispose]();
      clearTimeout(retry);
    },
  };
}

function followDirectory(live: LivePlans, folder: string, intervalMs: number, onError: (error: unknown) => void): Followed {
  let known: number | undefined;
  let reading: Promise<void> | undefined;
  const read = async () => {
    try {
      const document = await readPlanDirectory(folder);
      if (document !== undefined && document.generation !== known) live.update('directory', document);
      known = document?.generation ?? known;
    } catch (error) {
      onError(error);
    }
  };
  // A folder of the network may not respond: one read runs at a time.
  const readNext = () => (reading ??= read().finally(() => (reading = undefined)));
  const ready = readNext();
  const timer = setInterval(() => void readNext(), intervalMs).unref();
  return {
    ready,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await reading;
    },
  };
}

/** The key of the ConfigMap. */
const PLAN_FILE = 'plans.json';
/** The largest size of a ConfigMap. */
const MAX_BYTES = 1_048_576;

/** Reads the document of a mounted ConfigMap; undefined while it does not exist, because the operator may create it after the pods have started.
 *  Each read resolves the whole path, to follow the swap of `..data`. Faults: `invalid_plans`. */
export async function readPlanDirectory(folder: string): Promise<PlanDocument | undefined> {
  const path = join(folder, PLAN_FILE);
  try {
    // Opened once, because the path may lead to another file a moment later.
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > MAX_BYTES) throw new Fault('invalid_plans', { say: `${path} has ${size} bytes; at most ${MAX_BYTES}` });
    return readPlanDocument(await file.readFile('utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
