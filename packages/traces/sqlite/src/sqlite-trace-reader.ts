import { invariant } from '@vitrine/faults/invariant';
import { DatabaseSync } from 'node:sqlite';
import type { DayUsage } from '@vitrine/traces/day-usage';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { checkpointOf, pageOf, summaryOf, traceDetailOf, type StoredPayload } from '@vitrine/traces/stored-trace';
import type { MeasureQuery } from '@vitrine/traces/trace-measures';
import { TRACE_ID } from '@vitrine/traces/trace-id';
import type { AncestorQuery, CheckpointQuery, TraceQuery } from '@vitrine/traces/trace-store';
import type { Checkpoint, TraceDetail, TracePage } from '@vitrine/traces/trace';
import { usdOf } from '@vitrine/traces/usd';
import { LINEAGE_IDS, ListReader, type LineageIds } from './list-reader.ts';
import { MeasureReader } from './measure-reader.ts';
import type { MeasureTable } from './measure-table.ts';
import { tenantsIn } from './sum-tables.ts';
import { hexOf, traceRowOf, type TraceRow } from './trace-columns.ts';
import { requireTraceTables } from './trace-tables.ts';

/** How long a read waits for another process's lock. */
const BUSY_TIMEOUT_MS = 2_000;

/** Reads an embedded store over a separate connection. Synchronous: it runs on a worker thread. */
export class SqliteTraceReader implements Disposable {
  readonly #database: DatabaseSync;
  readonly #lists: ListReader;
  readonly #measures: MeasureReader;

  constructor(path: string, open: (path: string) => DatabaseSync = openReadOnly) {
    this.#database = open(path);
    requireTraceTables(this.#database);
    this.#lists = new ListReader(this.#database);
    this.#measures = new MeasureReader(this.#database);
  }

  list(query: TraceQuery): TracePage {
    const rows = this.#atOneMoment(() => this.#lists.rows(query, query.limit + 1));
    return pageOf(rows.map(summaryOf), query.limit);
  }

  has(id: Uint8Array): boolean {
    return this.#row(hexOf(id)) !== undefined;
  }

  get(id: string, tenant?: Tenant): TraceDetail | undefined {
    return this.#atOneMoment(() => {
      const row = this.#row(id);
      if (row === undefined || !isOf(row, tenant)) return undefined;
      const bodies = this.#database.prepare('SELECT * FROM trace_bodies WHERE id = ?').get(id);
      invariant(bodies !== undefined, 'a trace has its bodies');
      return traceDetailOf(summaryOf(row), row, row, bodies as unknown as StoredPayload);
    });
  }

  /** Undefined when there are too many rows. */
  measure(query: MeasureQuery): MeasureTable | undefined {
    return this.#atOneMoment(() => this.#measures.measure(query));
  }

  /** The usage of every key on a day (`YYYY-MM-DD`). */
  quotaTotals(day: string): DayUsage[] {
    const rows = this.#database.prepare('SELECT * FROM day_usage WHERE day = ?').all(day);
    return rows.map((row) => ({
      day,
      org_id: String(row['org_id']),
      workspace_id: String(row['workspace_id']),
      gateway_key_id: String(row['gateway_key_id']),
      requests: Number(row['requests']),
      total_tokens: Number(row['total_tokens']),
      estimated_tokens: Number(row['estimated_tokens']),
      cost_usd: usdOf(Number(row['cost_thousands']), Number(row['cost_pico'])),
      cost_upper_usd: usdOf(Number(row['upper_thousands']), Number(row['upper_pico'])),
    }));
  }

  /** The newest first. */
  checkpoints(query: CheckpointQuery): Checkpoint[] {
    return this.#atOneMoment(() => this.#lists.rows(query, query.limit).map((row) => checkpointOf(summaryOf(row), row)));
  }

  /** The tenants whose traces are or were in the file. */
  tenants(): Tenant[] {
    return tenantsIn(this.#database);
  }

  /** The tenants whose traces have all of these ids. */
  tenantsWith(ids: LineageIds): Tenant[] {
    const given = LINEAGE_IDS.filter((name) => ids[name] !== undefined);
    const where = given.map((name) => `${name} = ?`).join(' AND ');
    const sql = `SELECT DISTINCT org_id, workspace_id FROM traces WHERE ${where} ORDER BY 1, 2`;
    const rows = this.#database.prepare(sql).all(...given.map((name) => ids[name] ?? null));
    return rows.map((row) => ({ org_id: String(row['org_id']), workspace_id: String(row['workspace_id']) }));
  }

  /** A trace, its parent, and so on, with one table lookup each. */
  ancestors({ id, tenant, limit }: AncestorQuery): Checkpoint[] {
    return this.#atOneMoment(() => {
      const found = new Map<string, Checkpoint>();
      for (let next: string | undefined = id; next !== undefined && found.size < limit && !found.has(next);) {
        const row = TRACE_ID.test(next) ? this.#row(next) : undefined;
        if (row === undefined || !isOf(row, tenant)) break;
        const checkpoint = checkpointOf(summaryOf(row), row);
        found.set(checkpoint.id, checkpoint);
        next = checkpoint.lineage.parent_checkpoint_id;
      }
      return [...found.values()];
    });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #row(id: string): TraceRow | undefined {
    const row = this.#database.prepare('SELECT * FROM traces WHERE id = ?').get(id);
    return row && traceRowOf(row);
  }

  /** Concurrent writes are not visible, because traces and sums must be consistent. */
  #atOneMoment<T>(read: () => T): T {
    // A transaction whose end failed would make every later one fail.
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    this.#database.exec('BEGIN');
    try {
      return read();
    } finally {
      this.#database.exec('COMMIT');
    }
  }
}

/** The methods of the reader that its thread offers. */
export type ReadMethod = 'list' | 'get' | 'checkpoints' | 'ancestors' | 'measure';

/** A call of the thread that reads, and its arguments. */
export interface ReadCall {
  readonly method: ReadMethod;
  readonly args: readonly unknown[];
}

export function callReader(reader: SqliteTraceReader, { method, args }: ReadCall): unknown {
  return (reader[method] as (...args: readonly unknown[]) => unknown).apply(reader, [...args]);
}

/** The memory of a result that can be moved to another thread instead of being copied. */
export function buffersOf({ method }: ReadCall, result: unknown): ArrayBuffer[] {
  if (method !== 'measure' || result === undefined) return [];
  const { numbers, order } = result as MeasureTable;
  return [numbers.buffer, order.buffer];
}

function openReadOnly(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
}

function isOf({ org_id, workspace_id }: TraceRow, tenant: Tenant | undefined): boolean {
  return tenant === undefined || (org_id === tenant.org_id && workspace_id === tenant.workspace_id);
}
