import { messageOf } from '@vitrine/faults/fault';
import { planDocument, type PlanDocument } from '@vitrine/plans/plan-document';
import { readPlanRows } from '@vitrine/plans/plan-rows';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { postgresOptions } from '../../storage/storage-settings.ts';
import type { PlanSource } from './live-plans.ts';
import { type PlansSettings, readPlanDirectory } from './follow-plans.ts';

const CONNECT_TIMEOUT_MS = 3_000;

/** The current state of a source of plans. */
export interface ReadPlans {
  readonly source: PlanSource;
  /** Undefined when the source has no document, or an unusable one. */
  readonly document: PlanDocument | undefined;
  readonly error: string | undefined;
}

/** Reads the sources of live plans once, for commands. */
export async function readPlans({ limits, storage }: Pick<PlansSettings, 'limits' | 'storage'>): Promise<ReadPlans[]> {
  const options = postgresOptions(storage, 'plans');
  const { plans_dir: directory } = limits;
  return [
    ...(options === undefined ? [] : [await readSource('database', () => readRows(options))]),
    ...(directory === undefined ? [] : [await readSource('directory', () => readPlanDirectory(directory))]),
  ];
}

async function readRows(options: PostgresPoolOptions): Promise<PlanDocument> {
  await using pool = new PostgresPool({ ...options, maxConnections: 1, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  const { generation, plans } = await readPlanRows(pool);
  return planDocument(generation, plans);
}

async function readSource(source: PlanSource, read: () => Promise<PlanDocument | undefined>): Promise<ReadPlans> {
  try {
    return { source, document: await read(), error: undefined };
  } catch (error) {
    return { source, document: undefined, error: messageOf(error) };
  }
}

/** The names of the plans of the configuration and of these sources. */
export function planNames(configured: Readonly<Record<string, unknown>>, read: readonly ReadPlans[]): string[] {
  const live = read.flatMap(({ document }) => Object.keys(document?.plans ?? {}));
  return [...new Set([...Object.keys(configured), ...live])];
}
