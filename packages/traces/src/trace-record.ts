import type { ExchangeScope } from './exchange-scope.ts';
import type { LineageClaim } from './lineage-headers.ts';
import type { CostStatus, Outcome, Provider, UsageStatus } from './trace.ts';

/** A trace as stores write it: the fields of the summary under their own names, times as milliseconds since the epoch, headers
 *  as redacted lines (see `header-lines.ts`), metadata as JSON text. */
export interface TraceRecord {
  readonly id: Uint8Array<ArrayBuffer>;
  readonly scope: ExchangeScope;
  readonly timestamp: number;
  readonly created_at: number;
  readonly provider: Provider;
  readonly model: string;
  readonly request_method: string;
  readonly request_path: string;
  readonly response_status: number;
  readonly outcome: Outcome;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly usage_status: UsageStatus;
  readonly latency_ms: number;
  readonly time_to_first_token_us: number;
  /** SHA-256 of the provider credential. */
  readonly api_key_hash: Uint8Array<ArrayBuffer> | undefined;
  readonly estimated_cost_usd: number;
  readonly cost_status: CostStatus;
  readonly lineage: LineageClaim;
  readonly request_headers: string;
  readonly response_headers: string;
  readonly request_body: string | undefined;
  readonly response_body: string | undefined;
  readonly metadata: string;
}
