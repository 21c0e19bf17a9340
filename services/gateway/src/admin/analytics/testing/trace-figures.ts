import type { TraceSummary } from '@vitrine/traces/trace';
import { PICO_PER_THOUSAND, PICO_PER_USD, roundUsd, usdPartsIn, usdPartsOf } from '@vitrine/traces/usd';

/** A total, or a row, of a response or a report. Money is in trillionths of a dollar. */
export type Row = Readonly<Record<string, unknown>>;

/** What rows are of, and percentiles, which are approximate. */
const PLACES = ['bucket_start', 'group', 'model', 'provider', 'api_key_hash', 'top_model', 'p50_ms', 'p95_ms', 'p99_ms'];

/** The row with its figures replaced by those of the traces that it sums up. */
export function expectedRow(row: Row, traces: readonly TraceSummary[]): Row {
  const figures: Row = figuresOf(traces);
  return Object.fromEntries(
    Object.keys(row).map((name) => {
      if (!(name in figures) && !PLACES.includes(name)) throw new Error(`${name} is not compared`);
      return [name, name in figures ? figures[name] : row[name]];
    }),
  );
}

function figuresOf(traces: readonly TraceSummary[]) {
  const sum = (value: (trace: TraceSummary) => number) => traces.reduce((total, trace) => total + value(trace), 0);
  const count = (is: (trace: TraceSummary) => boolean) => sum((trace) => Number(is(trace)));
  const requests = traces.length;
  const latencies = traces.map((trace) => trace.latency_ms);
  const [input, output, total] = (['input_tokens', 'output_tokens', 'total_tokens'] as const).map((name) =>
    sum((one) => one[name]),
  );
  const [cost, upper] = (['estimated_cost_usd', 'cost_upper_usd'] as const).map((name) =>
    sum((trace) => picoOf(trace[name] ?? Number.NaN)),
  ) as [number, number];
  const [errors4xx, errors5xx] = [4, 5].map((kind) => count((one) => Math.floor(one.response_status / 100) === kind)) as [
    number,
    number,
  ];
  const average = (pico: number) => picoOf(roundUsd(pico / PICO_PER_USD / requests));
  return {
    request_count: requests,
    total_requests: requests,
    input_tokens: input,
    output_tokens: output,
    total_input_tokens: input,
    total_output_tokens: output,
    total_tokens: total,
    total_cost_usd: cost,
    total_cost_upper_usd: upper,
    avg_cost_usd: average(cost),
    avg_cost_upper_usd: average(upper),
    unpriced_requests: count((one) => one.cost_status === 'unpriced'),
    estimated_requests: count((one) => one.cost_status === 'estimated'),
    missing_usage_requests: count(isMissing),
    avg_latency_ms: sum((one) => one.latency_ms) / requests,
    avg_ttft_ms: ttft(traces),
    avg_ms: sum((one) => one.latency_ms) / requests,
    min_ms: latencies.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY),
    max_ms: latencies.reduce((most, one) => Math.max(most, one), 0),
    error_count_4xx: errors4xx,
    error_count_5xx: errors5xx,
    error_rate: (errors4xx + errors5xx) / requests,
    active_keys: new Set(traces.flatMap(({ api_key_hash: hash }) => hash ?? [])).size,
    last_active_at: traces.reduce((last, { timestamp }) => (timestamp > last ? timestamp : last), ''),
  };
}

export function isMissing({ usage_status: usage, cost_status: cost }: TraceSummary): boolean {
  return (usage === 'missing' || usage === 'undecodable') && cost !== 'free';
}

/** Of microseconds, over streams. */
function ttft(traces: readonly TraceSummary[]): number {
  const streams = traces.filter(({ time_to_first_token_us: us }) => us > 0);
  return streams.reduce((sum, { time_to_first_token_us: us }) => sum + us, 0) / 1_000 / Math.max(1, streams.length);
}

export function picoOf(usd: number): number {
  return Math.round(usd * PICO_PER_USD);
}

/** The JSON of a response, with every digit of its money. */
export function exactJson(response: object): Row {
  const text = response instanceof Uint8Array ? Buffer.from(response).toString() : JSON.stringify(response);
  return JSON.parse(text, withPico) as Row;
}

function withPico(name: string, value: unknown, { source = '' }: { readonly source?: string } = {}): unknown {
  if (!name.endsWith('_usd')) return value;
  const { thousands, pico } = source.includes('e') ? usdPartsOf(Number(source)) : usdPartsIn(source);
  return thousands * PICO_PER_THOUSAND + pico;
}
