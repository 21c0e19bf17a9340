/** Tokens and money that one key of one workspace used on one UTC day, by the `created_at` of its traces.
 *  Spec: G10.5. */
export interface DayUsage {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly org_id: string;
  readonly workspace_id: string;
  /** '' for traces that no key made. */
  readonly gateway_key_id: string;
  readonly requests: number;
  readonly total_tokens: number;
  readonly cost_usd: number;
}

/** What every key used. Faults: `trace_store_unavailable`. */
export interface QuotaTotals {
  /** On a UTC day (`YYYY-MM-DD`), by the `created_at` of the traces; one entry a key, and none for keys without traces. */
  quotaTotals(day: string): Promise<DayUsage[]>;
}
