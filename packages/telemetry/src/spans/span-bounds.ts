/** Sampled spans that wait for the collector or are on their way to it. */
export const MAX_PENDING_SPANS = 16_384;
/** Spans in one export. */
export const MAX_BATCH_SPANS = 1_024;
/** How long a span waits for others. */
export const BATCH_DELAY_MS = 1_000;

/** What became of sampled spans since the process began. */
export interface SpanCounts {
  exported: number;
  /** The collector did not take them. */
  failed: number;
  /** Too many were waiting. */
  dropped: number;
}
