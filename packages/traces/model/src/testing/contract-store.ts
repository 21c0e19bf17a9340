import { expect } from '@jest/globals';
import type { QuotaTotals } from '../day-usage.ts';
import type { ExchangeScope, Tenant } from '../exchange-scope.ts';
import type { RecordWriter } from '../record-writer.ts';
import type { Retention } from '../retention.ts';
import type { TraceMeasures } from '../trace-measures.ts';
import type { TraceRecord } from '../trace-record.ts';
import { readCursor, type TraceQuery, type TraceStore } from '../trace-store.ts';

/** Statements of a store, one of which can be made to fail. */
export interface StatementFailures {
  /** Makes the `n`th statement from now on, counted from 1, fail once before it has an effect. */
  failAt(n: number): void;
  /** Whether that statement was reached. */
  readonly hasFailed: boolean;
}

/** An empty store, opened by its test. */
export interface ContractStore extends AsyncDisposable {
  readonly writer: RecordWriter;
  readonly store: TraceStore & TraceMeasures & QuotaTotals & Retention;
  /** Statements of the writer and of retention. */
  readonly writes: StatementFailures;
  readonly reads: StatementFailures;
}

export type OpenContractStore = () => Promise<ContractStore>;

export const DAY = Date.UTC(2026, 0, 5);
const scopeOf = (workspace_id: string, gateway_key_id: string): ExchangeScope => {
  return { org_id: 'o', workspace_id, gateway_key_id, role: 'member' };
};
export const [ONE, TWO] = [scopeOf('w1', 'gk_1'), scopeOf('w2', 'gk_2')];
export const tenant = ({ org_id, workspace_id }: ExchangeScope): Tenant => ({ org_id, workspace_id });
export const hex = (id: Uint8Array) => Buffer.from(id).toString('hex');
export const hexIds = (records: readonly TraceRecord[]) => records.map(({ id }) => hex(id));
export const write = ({ writer }: ContractStore, ...records: TraceRecord[]) => Promise.resolve(writer.write(records));

export async function listed({ store }: ContractStore, query: Omit<TraceQuery, 'limit'> = {}): Promise<string[]> {
  const ids: string[] = [];
  let after: Uint8Array | undefined;
  do {
    const page = await store.list({ ...query, limit: 2, after });
    ids.push(...page.items.map(({ id }) => id));
    after = page.next_cursor === undefined ? undefined : readCursor(page.next_cursor);
  } while (after !== undefined);
  return ids;
}

/** Lists, measures, quota totals and the count agree on the stored traces. */
export async function expectKept(opened: ContractStore, records: readonly TraceRecord[]): Promise<void> {
  const { store } = opened;
  expect((await listed(opened)).toSorted()).toEqual(hexIds(records).toSorted());
  expect((await store.summary()).traceCount).toBe(records.length);
  expect(sum(await store.measure({}))).toBe(records.length);
  for (const [day, of] of Map.groupBy(records, ({ created_at }) => new Date(created_at).toISOString().slice(0, 10))) {
    const totals = await store.quotaTotals(day);
    expect(sum(totals)).toBe(of.length);
    expect(totals).toHaveLength(new Set(of.map(({ scope }) => scope)).size);
    expect(totals.reduce((tokens, row) => tokens + row.total_tokens, 0)).toBe(3 * of.length);
  }
  for (const { id } of records) expect(await store.get(hex(id))).toMatchObject({ request_headers: { a: ['1'] } });
}

/** Removes everything older, and resolves with the number of traces, or of their days. */
export async function removeAll({ store }: ContractStore, createdBeforeMs: number, rollupsBeforeMs = 0): Promise<number> {
  let all = 0;
  for (;;) {
    const removed = await store.removeOlderThan(createdBeforeMs, rollupsBeforeMs);
    if (removed.length === 0) return all;
    for (const { what, count } of removed) if (what.endsWith('traces')) all += count;
  }
}

export function sum(rows: readonly { readonly requests: number }[]): number {
  return rows.reduce((requests, row) => requests + row.requests, 0);
}
