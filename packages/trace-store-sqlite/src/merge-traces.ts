import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { bucketStartOf, DAY_MS } from '@vitrine/traces/time-buckets';
import { ALL_TENANTS, LEVELS, type Level } from './rollup-levels.ts';
import { packRollups, type PackedRollups } from './rollup-block.ts';
import { Rollups, type MeasuredTrace } from './rollup.ts';
import { UsageTally } from '@vitrine/traces/usage-tally';

/** Roll-ups in one row of the table; the next ones begin another, so that adding to a row stays cheap whatever clients send. */
const ROW_MAX = 8_192;

/** The last row of a segment. */
interface LastRow extends PackedRollups {
  readonly rollup: number;
  readonly chunk: number;
  readonly oldest: number;
  readonly newest: number;
}

interface Segment {
  readonly level: Level;
  readonly tenant: number;
  readonly start: number;
  readonly rollups: Rollups;
}

/** Adds traces to the roll-ups and to the usage of their days, inside the caller's transaction. */
export class TraceMerger {
  readonly #last: StatementSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #usageCost: StatementSync;
  readonly #addUsage: StatementSync;
  readonly #use: readonly [models: StatementSync, credentials: StatementSync];
  readonly #tenantOf: (scope: number) => number;

  constructor(database: DatabaseSync, tenantOf: (scope: number) => number) {
    this.#last = database.prepare(
      'SELECT rollup, chunk, count, oldest, newest, sums, latencies FROM rollups WHERE level = ? AND tenant = ? AND start = ? ORDER BY chunk DESC LIMIT 1',
    );
    this.#insert = database.prepare(
      'INSERT INTO rollups (level, tenant, start, chunk, count, oldest, newest, sums, latencies) VALUES (?,?,?,?,?,?,?,?,?)',
    );
    this.#update = database.prepare(
      'UPDATE rollups SET count = ?, oldest = ?, newest = ?, sums = ?, latencies = ? WHERE rollup = ?',
    );
    this.#usageCost = database.prepare('SELECT cost_usd FROM day_usage WHERE day = ? AND scope = ?');
    this.#addUsage = database.prepare(
      `INSERT INTO day_usage VALUES (?,?,?,?,?) ON CONFLICT (day, scope) DO UPDATE SET requests = requests + excluded.requests,
       total_tokens = total_tokens + excluded.total_tokens, cost_usd = excluded.cost_usd`,
    );
    this.#use = [
      database.prepare('UPDATE models SET used_day = ?1 WHERE model = ?2 AND used_day < ?1'),
      database.prepare('UPDATE credentials SET used_day = ?1 WHERE credential = ?2 AND used_day < ?1'),
    ];
    this.#tenantOf = tenantOf;
  }

  merge(traces: Iterable<MeasuredTrace>): void {
    const hours = new Segments();
    const usage = new UsageTally<number>();
    const lastOf = new Map<number, Segment>();
    for (const trace of traces) {
      const { scope } = trace;
      usage.add(scope, trace.createdAt, trace.totalTokens, trace.costUsd);
      const start = bucketStartOf(trace.timestamp, 'hour');
      const last = lastOf.get(scope);
      const segment = last?.start === start ? last : hours.of(LEVELS.keyHour, last?.tenant ?? this.#tenantOf(scope), start);
      if (segment !== last) lastOf.set(scope, segment);
      segment.rollups.addTrace(trace);
    }
    for (const { day, scope, requests, total_tokens, cost } of usage.values()) {
      // Added up here: SQL's sums are doubles.
      cost.add(Number(this.#usageCost.get(day, scope)?.['cost_usd'] ?? 0));
      this.#addUsage.run(day, scope, requests, total_tokens, cost.usd);
    }
    this.#markUsed(hours);
    for (const segment of withWhatFollows(hours).all()) this.#add(segment);
  }

  #add({ level, tenant, start, rollups }: Segment): void {
    const last = this.#last.get(level, tenant, start) as LastRow | undefined;
    const isFull = last !== undefined && last.count >= ROW_MAX;
    const base = isFull ? undefined : last;
    let { oldest, newest } = base ?? { oldest: Number.MAX_SAFE_INTEGER, newest: 0 };
    for (const one of rollups.values()) {
      oldest = Math.min(oldest, one.oldest);
      newest = Math.max(newest, one.newest);
    }
    const { count, sums, latencies } = packRollups(rollups, start, base);
    const values = [count, oldest, newest, sums, latencies] as const;
    if (base === undefined) this.#insert.run(level, tenant, start, (last?.chunk ?? -1) + 1, ...values);
    else this.#update.run(...values, base.rollup);
  }

  /** Models and credentials are kept as long as anything refers to them. */
  #markUsed(hours: Segments): void {
    const days = [new Map<number, number>(), new Map<number, number>()] as const;
    for (const { rollups } of hours.all()) {
      for (const one of rollups.values()) {
        const day = Math.floor(Math.max(one.newest, one.lastActive) / DAY_MS);
        for (const [of, number] of [
          [days[0], one.model],
          [days[1], one.credential],
        ] as const)
          of.set(number, Math.max(day, of.get(number) ?? 0));
      }
    }
    for (const [kind, ofKind] of days.entries())
      for (const [number, day] of ofKind) this.#use[kind === 0 ? 0 : 1].run(day, number);
  }
}

/** Adds what follows from hours by key: days by key, and hours and days by model, of the tenant and of everybody. */
function withWhatFollows(hours: Segments): Segments {
  for (const { tenant, start, rollups } of hours.all()) {
    const day = bucketStartOf(start, 'day');
    const ofHour = hours.of(LEVELS.modelHour, tenant, start).rollups;
    const byDay = hours.of(LEVELS.keyDay, tenant, day).rollups;
    for (const rollup of rollups.values()) {
      byDay.add(rollup);
      ofHour.add(rollup, 0, 0);
    }
    const others = [
      hours.of(LEVELS.modelDay, tenant, day).rollups,
      hours.of(LEVELS.modelHour, ALL_TENANTS, start).rollups,
      hours.of(LEVELS.modelDay, ALL_TENANTS, day).rollups,
    ];
    for (const rollup of ofHour.values()) for (const to of others) to.add(rollup);
  }
  return hours;
}

class Segments {
  readonly #byKey = new Map<string, Segment>();

  /** Those that are there now. */
  all(): Segment[] {
    return [...this.#byKey.values()];
  }

  of(level: Level, tenant: number, start: number): Segment {
    const key = `${level} ${tenant} ${start}`;
    const segment = this.#byKey.get(key) ?? { level, tenant, start, rollups: new Rollups() };
    this.#byKey.set(key, segment);
    return segment;
  }
}
