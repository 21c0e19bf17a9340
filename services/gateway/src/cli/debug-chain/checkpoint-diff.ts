import type { TraceDetail } from '@vitrine/traces/trace';
import { roundUsd } from '@vitrine/traces/usd';
import { isDeepStrictEqual } from 'node:util';
import { DIFF_FIELDS, DIFF_PARTS, DIFF_TOKENS, keysOf, type CheckpointDiff } from './debug-chain.ts';

/** The changes from one trace to the next: fields, sizes, and keys of the metadata. Bytes of headers are those of their JSON text, bytes
 *  of bodies those of the stored text. */
export function diffCheckpoints(from: TraceDetail, to: TraceDetail): CheckpointDiff {
  return {
    from_checkpoint_id: from.id,
    to_checkpoint_id: to.id,
    ...keysOf(DIFF_FIELDS, ['_changed'], (field) => from[field] !== to[field]),
    ...keysOf(DIFF_TOKENS, ['_delta'], (tokens) => to[tokens] - from[tokens]),
    latency_delta_ms: to.latency_ms - from.latency_ms,
    estimated_cost_delta_usd: roundUsd(to.estimated_cost_usd - from.estimated_cost_usd),
    ...keysOf(DIFF_PARTS, ['_changed'], (part) => textOf(from, part) !== textOf(to, part)),
    ...keysOf(DIFF_PARTS, ['_bytes_from', '_bytes_to'], (part, side) =>
      Buffer.byteLength(textOf(side === '_bytes_from' ? from : to, part) ?? ''),
    ),
    ...diffKeys(from.metadata, to.metadata),
  };
}

function textOf(trace: TraceDetail, part: (typeof DIFF_PARTS)[number]): string | undefined {
  const content = trace[part];
  return typeof content === 'object' ? JSON.stringify(content) : content;
}

function diffKeys(from: TraceDetail['metadata'], to: TraceDetail['metadata']) {
  const keys = {
    metadata_keys_added: Object.keys(to).filter((key) => !(key in from)),
    metadata_keys_removed: Object.keys(from).filter((key) => !(key in to)),
    metadata_keys_changed: Object.keys(from).filter((key) => key in to && !isDeepStrictEqual(from[key], to[key])),
  };
  return Object.fromEntries(
    Object.entries(keys).flatMap(([name, found]) => (found.length === 0 ? [] : [[name, found.toSorted()]])),
  );
}
