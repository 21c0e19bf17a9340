import { invariant } from '@vitrine/faults/invariant';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import { headerValuesOf } from '../header-lines.ts';
import { createdAtOf, firstIdOf } from '../trace-id.ts';
import { cursorOf, type CheckpointQuery, type TraceQuery } from '../trace-store.ts';
import type { Checkpoint, Lineage, TraceDetail, TracePage, TraceSummary } from '../trace.ts';
import { PAYLOADS_PER_PAGE, unpackPayload, type Payload } from './payload-page.ts';

type Row = Record<string, SQLInputValue | undefined>;

/** Answers questions about an embedded store over a connection of its own. Synchronous: it lives on a worker thread. */
export class SqliteTraceReader implements Disposable {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
  }

  list(query: TraceQuery): TracePage {
    const { where, values } = this.#conditions(query);
    const sql = `SELECT * FROM traces ${where} ORDER BY id DESC LIMIT ${query.limit + 1}`;
    const rows = this.#database.prepare(sql).all(...values);
    const items = rows.slice(0, query.limit);
    const last = items.at(-1)?.['id'];
    const more = rows.length > query.limit && last instanceof Uint8Array;
    return { items: items.map(summaryOf), ...(more ? { next_cursor: cursorOf(last) } : {}) };
  }

  get(id: string): TraceDetail | undefined {
    const row = this.#database.prepare('SELECT * FROM traces WHERE id = ?').get(Buffer.from(id, 'hex'));
    return row === undefined ? undefined : detailOf(row, this.#payload(Number(row['payload'])));
  }

  checkpoints(query: CheckpointQuery): Checkpoint[] {
    const { where, values } = this.#conditions(query);
    const rows = this.#database.prepare(`SELECT * FROM traces ${where} ORDER BY id DESC LIMIT ${query.limit}`).all(...values);
    return rows.map(checkpointOf);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #conditions(query: TraceQuery): { where: string; values: SQLInputValue[] } {
    const conditions: string[] = [];
    const values: SQLInputValue[] = [];
    const add = (condition: string, value: SQLInputValue | undefined) => {
      if (value === undefined) return;
      conditions.push(condition);
      values.push(value);
    };
    add('id < ?', query.after);
    if (query.from !== undefined) {
      // No exchange ends before it starts, so its id lies at or after the start: the range of ids bounds the scan.
      add('id >= ?', firstIdOf(query.from));
      add('timestamp >= ?', query.from);
    }
    if (query.to !== undefined) {
      // The extra second allows for a wall clock that was set forward during an exchange.
      add('id < ?', firstIdOf(query.to + this.#total('latency_ms_max') + 1_000));
      add('timestamp <= ?', query.to);
    }
    for (const field of ['provider', 'model', 'trace_group_id', 'thread_id', 'run_id'] as const)
      add(`${field} = ?`, query[field]);
    add('api_key_hash = ?', query.api_key_hash === undefined ? undefined : Buffer.from(query.api_key_hash, 'hex'));
    add('response_status = ?', query.status);
    add('total_tokens >= ?', query.min_tokens);
    add('total_tokens <= ?', query.max_tokens);
    return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
  }

  #payload(payload: number): Payload {
    const page = Math.floor(payload / PAYLOADS_PER_PAGE);
    const row = this.#database.prepare('SELECT count, bytes, payloads FROM payload_pages WHERE page = ?').get(page);
    invariant(row?.['payloads'] instanceof Uint8Array, 'a trace has its payload');
    const bytes = zstdDecompressSync(row['payloads'], { maxOutputLength: Number(row['bytes']) });
    return unpackPayload(bytes, Number(row['count']), payload % PAYLOADS_PER_PAGE);
  }

  #total(name: string): number {
    return Number(this.#database.prepare('SELECT value FROM totals WHERE name = ?').get(name)?.['value'] ?? 0);
  }
}

function summaryOf(row: Row): TraceSummary {
  const id = row['id'] as Uint8Array;
  const hash = row['api_key_hash'];
  const firstTokenUs = Number(row['time_to_first_token_us']);
  return {
    id: hexOf(id),
    timestamp: new Date(Number(row['timestamp'])).toISOString(),
    created_at: new Date(createdAtOf(id)).toISOString(),
    provider: row['provider'] as TraceSummary['provider'],
    model: textOf(row['model']),
    request_method: textOf(row['request_method']),
    request_path: textOf(row['request_path']),
    response_status: Number(row['response_status']),
    outcome: row['outcome'] as TraceSummary['outcome'],
    input_tokens: Number(row['input_tokens']),
    output_tokens: Number(row['output_tokens']),
    total_tokens: Number(row['total_tokens']),
    usage_status: row['usage_status'] as TraceSummary['usage_status'],
    latency_ms: Number(row['latency_ms']),
    time_to_first_token_ms: Math.floor(firstTokenUs / 1_000),
    time_to_first_token_us: firstTokenUs,
    ...(hash instanceof Uint8Array ? { api_key_hash: hexOf(hash) } : {}),
    estimated_cost_usd: Number(row['estimated_cost_usd']),
    cost_status: row['cost_status'] as TraceSummary['cost_status'],
  };
}

function checkpointOf(row: Row): Checkpoint {
  const summary = summaryOf(row);
  return { ...summary, lineage: lineageOf(row, summary.id) };
}

function detailOf(row: Row, payload: Payload): TraceDetail {
  const summary = summaryOf(row);
  const text = (field: string) => (row[field] === null ? {} : { [field]: textOf(row[field]) });
  const lineage = lineageOf(row, summary.id);
  return {
    ...summary,
    ...text('trace_group_id'),
    lineage,
    request_headers: headerValuesOf(payload.request_headers),
    response_headers: headerValuesOf(payload.response_headers),
    ...(payload.request_body === undefined ? {} : { request_body: payload.request_body }),
    ...(payload.response_body === undefined ? {} : { response_body: payload.response_body }),
    metadata: {
      ...DEFAULT_TENANT,
      ...(JSON.parse(payload.metadata) as Record<string, unknown>),
      ...Object.fromEntries(Object.entries(lineage).map(([field, value]) => [`lineage_${field}`, value])),
    },
  };
}

/** With authentication off there is one tenant. Spec: gateway decisions, section 5. */
const DEFAULT_TENANT = { org_id: 'default', workspace_id: 'default' };

/** A trace is its own checkpoint, and never changes. */
function lineageOf(row: Row, id: string): Lineage {
  const text = (field: string, name: string = field) => (row[field] === null ? {} : { [name]: textOf(row[field]) });
  return {
    ...text('trace_group_id', 'group_id'),
    ...text('thread_id'),
    ...text('run_id'),
    checkpoint_id: id,
    ...text('parent_checkpoint_id'),
    ...(row['checkpoint_seq'] === null ? {} : { checkpoint_seq: Number(row['checkpoint_seq']) }),
    immutable: true,
  };
}

function textOf(value: Row[string]): string {
  return typeof value === 'string' ? value : '';
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
