/** Microseconds in whole milliseconds, the nearest; half a millisecond counts as one. Every time that is shown in whole milliseconds is
 *  rounded here (`latency_ms`, `time_to_first_token_ms`, the report), so that equal times look equal, and a first token never seems
 *  later than the end of its response. Averages (`avg_ttft_ms`) and metrics are fractions and computed from microseconds. */
export function wholeMs(microseconds: number): number {
  return Math.round(microseconds / 1_000);
}
