import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Logger } from '@vitrine/telemetry/logger';
import { postgresOptions, type StorageSettings } from '../../storage/storage-settings.ts';
import { followPlans } from './follow-plans.ts';
import { LivePlans } from './live-plans.ts';

/** The parts of the configuration that live plans depend on. */
export interface PlansSettings {
  readonly auth: { readonly enabled: boolean };
  readonly limits: { readonly plans_dir?: string | undefined };
  readonly storage: StorageSettings;
}

interface OpenPlans extends AsyncDisposable {
  readonly live: LivePlans;
  readonly poolFigures: () => Readonly<Record<string, PoolFigures>>;
}

/** Opens the plans of the configured sources and follows their changes. Undefined where plans come from the configuration alone, and with
 *  authentication off, because then nobody has a plan. A source that cannot be read does not keep the gateway from starting. */
export async function openPlans({ auth, limits, storage }: PlansSettings, logger: Logger): Promise<OpenPlans | undefined> {
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
    poolFigures: () => (pool === undefined ? {} : { plans: pool.figures() }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function openPool(options: PostgresPoolOptions): Promise<PostgresPool> {
  const { PostgresPool } = await import('@vitrine/postgres/postgres-pool');
  return new PostgresPool({ ...options, maxConnections: 1 });
}
