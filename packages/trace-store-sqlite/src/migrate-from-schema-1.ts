import type { DatabaseSync } from 'node:sqlite';
import { DEFAULT_SCOPE } from '@vitrine/traces/exchange-scope';
import { createdAtOf } from '@vitrine/traces/trace-id';
import { COST_STATUSES, OUTCOMES, USAGE_STATUSES } from '@vitrine/traces/trace-values';
import { TraceMerger } from './merge-traces.ts';
import type { MeasuredTrace } from './rollup.ts';
import { TraceDictionary } from './trace-dictionary.ts';

/** Traces that become roll-ups at once. */
const MERGED_AT_ONCE = 32_768;

/** Fills rows and roll-ups from `traces_of_schema_1` and drops it. Until then there was one tenant, and no key.
 *  Inside the caller's transaction: a file that could not be migrated whole is what it was. */
export function migrateFromSchema1(database: DatabaseSync): void {
  const dictionary = new TraceDictionary(database);
  const scope = dictionary.scope(DEFAULT_SCOPE);
  const old = 'FROM traces_of_schema_1';
  database.exec(`
    INSERT INTO models (provider, name, used_day) SELECT DISTINCT provider, model, 0 ${old};
    INSERT INTO credentials (api_key_hash, used_day) SELECT DISTINCT coalesce(api_key_hash, x''), 0 ${old};
    INSERT INTO traces (id, scope, model, credential, response_status, total_tokens, timestamp, latency_ms, time_to_first_token_us,
      input_tokens, output_tokens, estimated_cost_usd, outcome, usage_status, cost_status, target, payload,
      trace_group_id, thread_id, run_id, parent_checkpoint_id, checkpoint_seq)
    SELECT id, ${scope}, m.model, c.credential, response_status, total_tokens, timestamp, latency_ms, time_to_first_token_us,
      input_tokens, output_tokens, estimated_cost_usd, ${placeOf('outcome', OUTCOMES)}, ${placeOf('usage_status', USAGE_STATUSES)},
      ${placeOf('cost_status', COST_STATUSES)}, request_method || ' ' || request_path, payload,
      trace_group_id, thread_id, run_id, parent_checkpoint_id, checkpoint_seq
    FROM traces_of_schema_1 AS t
    JOIN models AS m ON m.name = t.model AND m.provider = t.provider
    JOIN credentials AS c ON c.api_key_hash = coalesce(t.api_key_hash, x'')
    ORDER BY id;
    DROP TABLE traces_of_schema_1;
    DELETE FROM totals WHERE name = 'latency_ms_max';`);
  const merger = new TraceMerger(database, (one) => dictionary.tenantOf(one));
  let traces: MeasuredTrace[] = [];
  for (const row of database.prepare('SELECT * FROM traces').iterate()) {
    traces.push(measuredOf(row));
    if (traces.length < MERGED_AT_ONCE) continue;
    merger.merge(traces);
    traces = [];
  }
  merger.merge(traces);
}

/** What roll-ups need of a row of `traces`. */
function measuredOf(row: Readonly<Record<string, unknown>>): MeasuredTrace {
  const number = (field: string) => Number(row[field]);
  return {
    scope: number('scope'),
    model: number('model'),
    credential: number('credential'),
    timestamp: number('timestamp'),
    createdAt: createdAtOf(row['id'] as Uint8Array),
    status: number('response_status'),
    inputTokens: number('input_tokens'),
    outputTokens: number('output_tokens'),
    totalTokens: number('total_tokens'),
    costUsd: number('estimated_cost_usd'),
    latencyMs: number('latency_ms'),
    firstTokenUs: number('time_to_first_token_us'),
  };
}

function placeOf(column: string, words: readonly string[]): string {
  return `CASE ${column} ${words.map((word, place) => `WHEN '${word}' THEN ${place}`).join(' ')} END`;
}
