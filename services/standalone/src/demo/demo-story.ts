import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { createId } from '@vitrine/stores/identifiers';
import { queueScans } from '@vitrine/stores/scans/queue-scans';
import type { Logger } from '@vitrine/telemetry/logger';
import type { Storefronts } from '@vitrine/testkit/storefronts/start-storefronts';
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { DEMO_DOMAINS, DEMO_SHOPS, UNSCANNED_SHOP, type DemoShop, type ShownSignal } from './demo-shops.ts';

/** Intervals between two scans of a shop: until all have changed, and afterwards. */
const CADENCE_MS = { changing: 3_000, changed: 60_000 };
const POLL_MS = 500;
/** Maximum signals printed per run. The API lists all. */
const MAX_SHOWN = 1_000;

const SELECT_SIGNALS = `SELECT s.id, stores.domain, s.type, s.technology, s."from", s."to" FROM signals s JOIN stores USING (storefront_id)
  WHERE stores.domain = ANY ($1) AND s.confirmed_at >= $2 ORDER BY s.confirmed_at DESC, s.id LIMIT ${MAX_SHOWN}`;
const SELECT_JOBS = 'SELECT domain, status FROM scan_jobs WHERE id = ANY ($1)';
const newJobId = () => createId('job', Date.now(), randomBytes);

export interface StorySignal extends ShownSignal {
  readonly id: string;
  readonly domain: string;
}

interface DemoStoryOptions {
  readonly pool: PostgresPool;
  readonly storefronts: Pick<Storefronts, 'change'>;
  /** Called once for each newly confirmed signal. */
  readonly onSignal: (signal: StorySignal) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Scans the shops every few seconds, changes each after its first completed scan, and prints confirmed signals. Steps do not depend on fixed
 *  times, so a slow machine shows the same events later. Resolves when the signal is aborted. A failed round is logged and tried again. */
export async function tellDemoStory(options: DemoStoryOptions): Promise<void> {
  const story = new DemoStory(options, Date.now());
  await Promise.all([
    repeat(options, () => story.scanAll()),
    repeat(options, async () => {
      await story.showSignals();
      return POLL_MS;
    }),
  ]);
}

class DemoStory {
  readonly #options: DemoStoryOptions;
  readonly #startedAt: number;
  readonly #shown = new Set<string>();
  readonly #changed = new Set<string>();
  readonly #confirmed = new Set<string>();
  #looks: ReadonlyMap<DemoShop, DemoShop['looks']> | undefined;

  constructor(options: DemoStoryOptions, startedAt: number) {
    this.#options = options;
    this.#startedAt = startedAt;
  }

  /** Resolves with the time to wait until the next round. */
  async scanAll(): Promise<number> {
    const { storefronts } = this.#options;
    this.#looks ??= await this.#firstLooks();
    const statuses = await this.#scan();
    for (const [shop, [, next]] of this.#looks) {
      const { host } = shop.storefront;
      if (this.#changed.has(host) || statuses.get(host) !== 'completed') continue;
      storefronts.change(host, next);
      this.#changed.add(host);
    }
    return this.#confirmed.size === DEMO_SHOPS.length ? CADENCE_MS.changed : CADENCE_MS.changing;
  }

  async showSignals(): Promise<void> {
    const signals = await this.#signalsSince(this.#startedAt);
    for (const signal of signals.toReversed()) {
      if (this.#shown.has(signal.id)) continue;
      this.#shown.add(signal.id);
      const shop = DEMO_SHOPS.find(({ storefront }) => storefront.host === signal.domain);
      if (shop?.isChange(signal) === true) this.#confirmed.add(signal.domain);
      this.#options.onSignal(signal);
    }
  }

  /** A shop starts in the version left by earlier runs, and then changes to the other one. */
  async #firstLooks(): Promise<ReadonlyMap<DemoShop, DemoShop['looks']>> {
    const earlier = await this.#signalsSince(0);
    const looks = new Map<DemoShop, DemoShop['looks']>();
    for (const shop of DEMO_SHOPS) {
      const [first, second] = shop.looks;
      const changes = earlier.filter((signal) => signal.domain === shop.storefront.host && shop.isChange(signal)).length;
      const inOrder: DemoShop['looks'] = changes % 2 === 0 ? [first, second] : [second, first];
      this.#options.storefronts.change(shop.storefront.host, inOrder[0]);
      looks.set(shop, inOrder);
    }
    return looks;
  }

  /** Scans all shops, and resolves with how the jobs ended. */
  async #scan(): Promise<ReadonlyMap<string, string>> {
    const { pool, signal } = this.#options;
    const queued = await pool.transaction((transaction) =>
      queueScans(transaction, { domains: DEMO_DOMAINS, cause: 'routine', createId: newJobId }),
    );
    const ids = [...queued.values()].map(({ scan_job_id }) => scan_job_id);
    for (;;) {
      const jobs = await pool.query<{ domain: string; status: string }>(SELECT_JOBS, [ids]);
      if (signal.aborted) return new Map();
      if (jobs.every(({ status }) => status !== 'queued' && status !== 'running'))
        return new Map(jobs.map(({ domain, status }) => [domain, status]));
      await pause(POLL_MS, signal);
    }
  }

  #signalsSince(at: number): Promise<StorySignal[]> {
    return this.#options.pool.query<StorySignal>(SELECT_SIGNALS, [[...DEMO_DOMAINS, UNSCANNED_SHOP.host], new Date(at)]);
  }
}

async function repeat({ logger, signal }: DemoStoryOptions, round: () => Promise<number>): Promise<void> {
  while (!signal.aborted) {
    const waitMs = await round().catch((err: unknown) => {
      if (!signal.aborted) logger.warn({ ...databaseErrorFields(err) }, 'round of the demonstration failed');
      return CADENCE_MS.changing;
    });
    await pause(waitMs, signal);
  }
}

/** Ends early when the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return wait(ms, undefined, { signal }).catch(() => {});
}
