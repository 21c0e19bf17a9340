import type { TraceDetail } from '@vitrine/traces/trace';
import { roundUsd } from '@vitrine/traces/usd';
import { isDeepStrictEqual } from 'node:util';
import type { CheckpointDiff } from './debug-chain.ts';

/** The changes from one trace to the next: fields, sizes, and keys of the metadata. Bytes of headers are those of their JSON text, bytes
 *  of bodies those of the stored text. */
export function diffCheckpoints(from: TraceDetail, to: TraceDetail): CheckpointDiff {
  const [requestHeaders, responseHeaders] = (['request_headers', 'response_headers'] as const).map((field) => [
    JSON.stringify(from[field]),
    JSON.stringify(to[field]),
  ]);
  const changed = (field: 'provider' | 'model' | 'request_method' | 'request_path' | 'response_status') =>
    from[field] !== to[field];
  const [requestHeadersFrom = '', requestHeadersTo = ''] = requestHeaders ?? [];
  const [responseHeadersFrom = '', responseHeadersTo = ''] = responseHeaders ?? [];
  return {
    from_checkpoint_id: from.id,
    to_checkpoint_id: to.id,
    provider_changed: changed('provider'),
    model_changed: changed('model'),
    request_method_changed: changed('request_method'),
    request_path_changed: changed('request_path'),
    response_status_changed: changed('response_status'),
    input_tokens_delta: to.input_tokens - from.input_tokens,
    output_tokens_delta: to.output_tokens - from.output_tokens,
    total_tokens_delta: to.total_tokens - from.total_tokens,
    latency_delta_ms: to.latency_ms - from.latency_ms,
    estimated_cost_delta_usd: roundUsd(to.estimated_cost_usd - from.estimated_cost_usd),
    request_headers_changed: requestHeadersFrom !== requestHeadersTo,
    response_headers_changed: responseHeadersFrom !== responseHeadersTo,
    request_body_changed: from.request_body !== to.request_body,
    response_body_changed: from.response_body !== to.response_body,
    request_headers_bytes_from: Buffer.byteLength(requestHeadersFrom),
    request_headers_bytes_to: Buffer.byteLength(requestHeadersTo),
    response_headers_bytes_from: Buffer.byteLength(responseHeadersFrom),
    response_headers_bytes_to: Buffer.byteLength(responseHeadersTo),
    request_body_bytes_from: Buffer.byteLength(from.request_body ?? ''),
    request_body_bytes_to: Buffer.byteLength(to.request_body ?? ''),
    response_body_bytes_from: Buffer.byteLength(from.response_body ?? ''),
    response_body_bytes_to: Buffer.byteLength(to.response_body ?? ''),
    ...diffKeys(from.metadata, to.metadata),
  };
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
