import type { Tenant } from '@vitrine/traces/exchange-scope';
import { firstIdOf } from '@vitrine/traces/trace-id';
import { plain } from './storable-record.ts';

/** The tenant of rows in `trace_sums_by_model_*` with the sums of all tenants. No organisation or workspace can have this id (`idText` of
 *  gateway-keys), while '' is used for requests rejected before their key was known. */
export const ALL_TENANTS: Tenant = { org_id: '*', workspace_id: '*' };

/** From one `created_at` on and before another, in milliseconds; both may be infinite. */
export interface CreatedRange {
  readonly from: number;
  readonly before: number;
}

/** Conditions of a WHERE, and the values of the statement. */
export class Conditions {
  readonly values: unknown[];
  readonly #sql: string[];

  constructor(values: unknown[] = [], sql: readonly string[] = []) {
    this.values = values;
    this.#sql = [...sql];
  }

  /** Conditions of another SELECT in the same statement, whose values follow the previous ones. */
  nested(): Conditions {
    return new Conditions(this.values);
  }

  /** Adds a condition, such as `model =`, with its value; nothing when that is undefined. */
  add(left: string, value: unknown): this {
    if (value !== undefined) this.#sql.push(`${left} ${this.value(value)}`);
    return this;
  }

  /** Adds a condition without a value. */
  addSql(sql: string): this {
    this.#sql.push(sql);
    return this;
  }

  /** Nothing when the time is undefined or infinite. */
  addTime(left: string, ms: number | undefined): this {
    return ms === undefined || !Number.isFinite(ms) ? this : this.add(left, new Date(ms));
  }

  /** By time, which selects partitions, and by id, for the primary key. */
  addCreated({ from, before }: CreatedRange): this {
    this.addTime('created_at >=', from).addTime('created_at <', before);
    if (Number.isFinite(from)) this.add('id >=', uuidOf(firstIdOf(from)));
    if (Number.isFinite(before)) this.add('id <', uuidOf(firstIdOf(before)));
    return this;
  }

  /** The placeholder of a value. */
  value(value: unknown): string {
    return `$${this.values.push(plain(value))}`;
  }

  /** `WHERE ...`, or nothing. */
  where(): string {
    return this.#sql.length === 0 ? '' : `WHERE ${this.#sql.join(' AND ')}`;
  }
}

export function uuidOf(id: Uint8Array): string {
  return Buffer.from(id).toString('hex');
}
