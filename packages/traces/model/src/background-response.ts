import { hash } from 'node:crypto';
import type { ExchangeScope } from './exchange-scope.ts';
import type { TraceRecord } from './trace-record.ts';
import type { BackgroundRole } from './trace-values.ts';

// A background response of a provider is created by one exchange and read back by others, each of which reports its whole usage. The
// usage counts once, on the creating key, when the finished response is first seen. Only the store can decide whether this is the first
// time, so it settles a record in the transaction that writes it. The results of a batch are the same: they are read back from the batch, or at
// OpenAI from a file that the batch names when it is complete. Spec: G11.19.

/** The record's reference to a background response. `response` is the SHA-256 of the provider's id, in hexadecimal, because ids are arbitrary
 *  input. */
export interface BackgroundReference {
  readonly role: BackgroundRole;
  readonly response: string;
}

/** The file with the results of a batch: its usage counts as that of the batch. */
export interface BatchFileReference {
  readonly batch: string;
  readonly file: string;
}

/** The creator of a background response. */
export interface BackgroundCreator {
  readonly scope: ExchangeScope;
  readonly model: string;
}

export function backgroundReference(role: BackgroundReference['role'], responseId: string): BackgroundReference {
  return { role, response: hash('sha256', responseId) };
}

export function batchFileReference({ batch, file }: BatchFileReference): BatchFileReference {
  return { batch: hash('sha256', batch), file: hash('sha256', file) };
}

/** The stored form of a record that read back a finished response. `creator`: of a response whose usage counts now; undefined when it was already
 *  counted or not created here. */
export function settledRecord(record: TraceRecord, creator: BackgroundCreator | undefined): TraceRecord {
  return creator === undefined ? uncounted(record) : countedFor(record, creator);
}

function countedFor(record: TraceRecord, { scope, model }: BackgroundCreator): TraceRecord {
  const poller = record.scope.gateway_key_id;
  const isOthers = poller !== scope.gateway_key_id;
  return {
    ...record,
    scope,
    model: record.model === 'unknown' ? model : record.model,
    metadata: isOthers ? withMetadata(record, { polled_by_gateway_key_id: poller }) : record.metadata,
  };
}

/** Metadata of usage that counts. */
const OF_USAGE = {
  cached_input_tokens: undefined,
  cache_write_input_tokens: undefined,
  reasoning_tokens: undefined,
  cost_breakdown: undefined,
  background_response_id: undefined,
  price_source: undefined,
  price_version: undefined,
};

/** `record` without usage, because its usage was counted elsewhere. */
export function uncounted(record: TraceRecord): TraceRecord {
  return {
    ...record,
    input_tokens: 0,
    output_tokens: 0,
    total_tokens: 0,
    estimated_cost_usd: 0,
    cost_status: 'free',
    cost_upper_usd: 0,
    upper_tokens: undefined,
    usage_status: 'missing',
    metadata: withMetadata(record, { ...OF_USAGE, usage_read_back: true }),
  };
}

function withMetadata({ metadata }: TraceRecord, changes: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...(JSON.parse(metadata) as object), ...changes });
}
