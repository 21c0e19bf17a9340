import { invariant } from '@vitrine/faults/invariant';
import { DatabaseSync } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import type { DayUsage } from '@vitrine/traces/day-usage';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { MeasureQuery } from '@vitrine/traces/trace-measures';
import type { AncestorQuery, CheckpointQuery, TraceQuery } from '@vitrine/traces/trace-store';
import type { Checkpoint, TraceDetail, TracePage } from '@vitrine/traces/trace';
import { JournalReader } from './journal-reader.ts';
import type { LineageIds } from './lineage-entries.ts';
import type { MeasureTable } from './measure-table.ts';
import { PAYLOADS_PER_PAGE, unpackPayload, type Payload } from './payload-page.ts';
import { ReadDictionary } from './read-dictionary.ts';
import { readDayUsage } from './read-day-usage.ts';
import { RollupReader } from './rollup-reader.ts';
import { TraceLister } from './trace-lister.ts';
import { detailOf } from './trace-rows.ts';
import { SCHEMA_VERSION } from './trace-tables.ts';

/** How long a read waits for another process's lock. */
const BUSY_TIMEOUT_MS = 2_000;

/** Reads an embedded store over a connection of its own. Synchronous: it runs on a worker thread. */
export class SqliteTraceReader implements Disposable {
  readonly #database: DatabaseSync;
  readonly #dictionary: ReadDictionary;
  readonly #journal: JournalReader;
  readonly #lister: TraceLister;
  readonly #rollups: RollupReader;

  /** `fewOfStatus`: see `TraceLister`. */
  constructor(path: string, fewOfStatus?: number, open: (path: string) => DatabaseSync = openReadOnly) {
    this.#database = open(path);
    const { user_version: found } = this.#database.prepare('PRAGMA user_version').get() as { user_version: number };
    if (found < SCHEMA_VERSION)
      throw new Error(`the file holds schema ${found}; a gateway that opens it makes that ${SCHEMA_VERSION}`);
    if (found > SCHEMA_VERSION) throw new Error(`the file holds schema ${found}, this version knows up to ${SCHEMA_VERSION}`);
    this.#dictionary = new ReadDictionary(this.#database);
    this.#journal = new JournalReader(this.#database);
    this.#lister = new TraceLister(this.#database, this.#dictionary, this.#journal, fewOfStatus);
    this.#rollups = new RollupReader(this.#database, this.#dictionary, this.#journal);
  }

  list(query: TraceQuery): TracePage {
    return this.#atOneMoment(() => this.#lister.list(query));
  }

  has(id: Uint8Array): boolean {
    return this.#database.prepare('SELECT 1 FROM traces WHERE id = ?').get(id) !== undefined;
  }

  get(id: string, tenant?: Tenant): TraceDetail | undefined {
    return this.#atOneMoment(() => {
      const row = this.#database.prepare('SELECT * FROM traces WHERE id = ?').get(Buffer.from(id, 'hex'));
      if (row === undefined || !this.#isOf(tenant, Number(row['scope']))) return undefined;
      return detailOf(row, this.#dictionary, this.#payload(Number(row['payload'])));
    });
  }

  /** Undefined when there are too many rows. */
  measure(query: MeasureQuery): MeasureTable | undefined {
    return this.#atOneMoment(() => this.#rollups.measure(query));
  }

  /** What every key used on a day (`YYYY-MM-DD`). */
  quotaTotals(day: string): DayUsage[] {
    return this.#atOneMoment(() => readDayUsage(this.#database, this.#dictionary, this.#journal, day));
  }

  checkpoints(query: CheckpointQuery): Checkpoint[] {
    return this.#atOneMoment(() => this.#lister.checkpoints(query));
  }

  /** Whose traces the file holds or held. */
  tenants(): Tenant[] {
    const rows = this.#database.prepare('SELECT org_id, workspace_id FROM tenants').all();
    return rows.map((row) => ({ org_id: String(row['org_id']), workspace_id: String(row['workspace_id']) })).toSorted(byName);
  }

  /** Whose traces have all of these ids. Reads each of these traces: half a second for 250,000. */
  tenantsWith(ids: LineageIds): Tenant[] {
    return this.#atOneMoment(() => {
      const scopes = [...this.#lister.scopesWith(ids)].map((scope) => this.#dictionary.scope(scope));
      const tenants = new Map(scopes.map(({ tenant, org_id, workspace_id }) => [tenant, { org_id, workspace_id }]));
      return [...tenants.values()].toSorted(byName);
    });
  }

  ancestors(query: AncestorQuery): Checkpoint[] {
    return this.#atOneMoment(() => this.#lister.ancestors(query));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #isOf(tenant: Tenant | undefined, scope: number): boolean {
    const { org_id, workspace_id } = this.#dictionary.scope(scope);
    return tenant === undefined || (org_id === tenant.org_id && workspace_id === tenant.workspace_id);
  }

  #payload(payload: number): Payload {
    const page = Math.floor(payload / PAYLOADS_PER_PAGE);
    const row = this.#database.prepare('SELECT count, bytes, payloads FROM payload_pages WHERE page = ?').get(page);
    invariant(row?.['payloads'] instanceof Uint8Array, 'a trace has its payload');
    const bytes = zstdDecompressSync(row['payloads'], { maxOutputLength: Number(row['bytes']) });
    return unpackPayload(bytes, Number(row['count']), payload % PAYLOADS_PER_PAGE);
  }

  /** What is written meanwhile is not seen: traces, roll-ups and journal have to fit together. */
  #atOneMoment<T>(read: () => T): T {
    // One whose end failed would fail every later one.
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    this.#database.exec('BEGIN');
    try {
      return read();
    } finally {
      this.#database.exec('COMMIT');
    }
  }
}

export function openReadOnly(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
}

function byName(left: Tenant, right: Tenant): number {
  if (left.org_id !== right.org_id) return left.org_id < right.org_id ? -1 : 1;
  return left.workspace_id < right.workspace_id ? -1 : 1;
}
