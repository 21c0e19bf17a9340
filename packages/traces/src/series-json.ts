import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonBytes } from './json-bytes.ts';
import type { Measure, MeasureQuery, MeasureSeries } from './trace-measures.ts';
import { usdOf } from './usd.ts';

/** Items that are made within one turn of the event loop: half a millisecond of work. */
const ITEMS_PER_TURN = 1_000;

/** How much more than the first items make expected. */
const RESERVE = 1.05;

/** Writes the fields of an item behind its bucket and group. */
export type WriteFields = (json: JsonBytes, measure: Measure) => void;

const NOTHING = utf8('');
const COMMA = utf8(',');
const END = utf8('}');
const INPUT_TOKENS = name('input_tokens');
const OUTPUT_TOKENS = name('output_tokens');
const TOTAL_TOKENS = name('total_tokens');
const TOTAL_COST_USD = name('total_cost_usd');
const REQUEST_COUNT = name('request_count');
const AVG_COST_USD = name('avg_cost_usd');

export const writeUsage: WriteFields = (json, { inputTokens, outputTokens, totalTokens }) => {
  json.raw(INPUT_TOKENS).number(inputTokens).raw(OUTPUT_TOKENS).number(outputTokens).raw(TOTAL_TOKENS).number(totalTokens);
};

export const writeCost: WriteFields = (json, { cost, requests }) => {
  const average = usdOf(cost.thousands, cost.pico) / requests;
  json.raw(TOTAL_COST_USD).usd(cost).raw(REQUEST_COUNT).number(requests).raw(AVG_COST_USD).roundedUsd(average);
};

/** The response of a series, in UTF-8. Made in turns, because thirty thousand items (a month by model and hour) at once would hold the thread, and
 *  with it all requests in flight. Measures are ordered by bucket. */
export async function seriesJson(
  { groupBy, bucket }: Pick<MeasureQuery, 'groupBy' | 'bucket'>,
  measures: MeasureSeries,
  writeFields: WriteFields,
): Promise<Uint8Array> {
  const json = new JsonBytes().raw(utf8(JSON.stringify({ group_by: groupBy, bucket, items: [] }).slice(0, -']}'.length)));
  const [startOf, groupOf] = [starts(), groupBy === undefined ? () => NOTHING : groups()];
  let at = 0;
  for (const one of measures) {
    if (at > 0 && at % ITEMS_PER_TURN === 0) {
      if (at === ITEMS_PER_TURN) json.reserve((json.length / at) * measures.length * RESERVE);
      await nextTurn();
    }
    if (at > 0) json.raw(COMMA);
    json.raw(startOf(one.bucketStart)).raw(groupOf(one.group));
    writeFields(json, one);
    json.raw(END);
    at += 1;
  }
  return json.raw(utf8(']}')).bytes();
}

/** Beginnings of items, which many have in common: a text of a moment takes as long as the rest of its item. */
function starts(): (at: number) => Uint8Array {
  let [last, json]: [number, Uint8Array] = [Number.NaN, NOTHING];
  return (at) => {
    if (at !== last) [last, json] = [at, utf8(`{"bucket_start":${JSON.stringify(new Date(at))}`)];
    return json;
  };
}

function groups(): (group: string) => Uint8Array {
  const known = new Map<string, Uint8Array>();
  return (group) => {
    const json = known.get(group) ?? utf8(`,"group":${JSON.stringify(group)}`);
    known.set(group, json);
    return json;
  };
}

function name(of: string): Uint8Array {
  return utf8(`,"${of}":`);
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text);
}
