import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonPiece, type JsonBytes } from './json-bytes.ts';
import type { BucketMeasures, MeasureQuery, TakeBucket } from './trace-measures.ts';
import { usdOf } from './usd.ts';

/** Items that are made within one turn of the event loop: half a millisecond of work. */
const ITEMS_PER_TURN = 1_000;

/** The fields of an item behind its bucket and group. */
export interface SeriesFields {
  readonly firstName: string;
  /** Writes the value of the first one, and the others with their names, of an element of a bucket. */
  readonly write: (json: JsonBytes, bucket: BucketMeasures, at: number) => void;
}

const COMMA = new JsonPiece(',');
const CLOSE = new JsonPiece('}');
const END = new JsonPiece(']}');
const OUTPUT_TOKENS = named('output_tokens');
const TOTAL_TOKENS = named('total_tokens');
const REQUEST_COUNT = named('request_count');
const AVG_COST_USD = named('avg_cost_usd');

export const USAGE: SeriesFields = {
  firstName: 'input_tokens',
  write(json, { inputTokens, outputTokens, totalTokens }, at) {
    json.number(inputTokens[at] ?? 0).piece(OUTPUT_TOKENS);
    json.number(outputTokens[at] ?? 0).piece(TOTAL_TOKENS);
    json.number(totalTokens[at] ?? 0);
  },
};

export const COST: SeriesFields = {
  firstName: 'total_cost_usd',
  write(json, { costThousands, costPico, requests }, at) {
    const [thousands, pico, count] = [costThousands[at] ?? 0, costPico[at] ?? 0, requests[at] ?? 0];
    json.usd(thousands, pico).piece(REQUEST_COUNT);
    json.number(count).piece(AVG_COST_USD);
    json.roundedUsd(usdOf(thousands, pico) / count);
  },
};

/** Writes the response of a series. In turns, because thirty thousand items (a month by model and hour) at once would hold the thread, and
 *  with it all requests in flight. */
export async function writeSeries(
  json: JsonBytes,
  { groupBy, bucket }: Pick<MeasureQuery, 'groupBy' | 'bucket'>,
  fields: SeriesFields,
  eachBucket: (take: TakeBucket) => Promise<void>,
): Promise<void> {
  json.piece(new JsonPiece(JSON.stringify({ group_by: groupBy, bucket, items: [] }).slice(0, -']}'.length)));
  const headsOf = itemHeads(groupBy !== undefined, fields.firstName);
  let [isFirst, left] = [true, ITEMS_PER_TURN];
  await eachBucket(async (of) => {
    const heads = headsOf(of.groups);
    const start = new JsonPiece(`{"bucket_start":${JSON.stringify(new Date(of.bucketStart))}`);
    for (let at = 0; at < heads.length;) {
      if (!isFirst) json.piece(COMMA);
      isFirst = false;
      const end = Math.min(heads.length, at + left);
      writeItems(json, fields, of, start, heads, at, end);
      left -= end - at;
      at = end;
      if (left > 0) continue;
      left = ITEMS_PER_TURN;
      await nextTurn();
    }
  });
  json.piece(END);
}

function writeItems(
  json: JsonBytes,
  fields: SeriesFields,
  of: BucketMeasures,
  start: JsonPiece,
  heads: readonly JsonPiece[],
  from: number,
  before: number,
): void {
  for (let at = from; at < before; at += 1) {
    if (at > from) json.piece(COMMA);
    json.piece(start).piece(heads[at] ?? END);
    fields.write(json, of, at);
    json.piece(CLOSE);
  }
}

/** What items have between their bucket and the value of the first field. */
function itemHeads(isGrouped: boolean, firstName: string): (groups: readonly string[]) => readonly JsonPiece[] {
  const known = new Map<string, JsonPiece>();
  let last: { readonly groups: readonly string[]; readonly heads: readonly JsonPiece[] } = { groups: [], heads: [] };
  return (groups) => {
    if (groups !== last.groups) last = { groups, heads: groups.map(headOf) };
    return last.heads;
  };
  function headOf(group: string): JsonPiece {
    const head = known.get(group) ?? new JsonPiece(`${isGrouped ? `,"group":${JSON.stringify(group)}` : ''},"${firstName}":`);
    known.set(group, head);
    return head;
  }
}

function named(name: string): JsonPiece {
  return new JsonPiece(`,"${name}":`);
}
