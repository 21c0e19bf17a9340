import { backgroundReference, type BackgroundReference } from '@vitrine/traces/background-response';
import type { UsageStatus } from '@vitrine/traces/trace';
import type { BodyFacts } from './body-facts.ts';
import type { CapturedExchange } from './captured-exchange.ts';
import { isFree } from './charging.ts';
import { estimatedCall, withEstimate } from './estimated-usage.ts';
import { imagePieces, type ImagePieces } from './image-pieces.ts';
import type { OpenBody } from './open-body.ts';
import { batchResultsOf, createdBatch, finishedResponse, pendingResponse, readsBack } from './stored-responses.ts';
import type { CallUsage } from './token-counts.ts';
import { readUsage, usageOfCalls, type Usage, type UsageForm } from './usage.ts';

/** The usage of an exchange, and what of it is charged. */
export interface ChargedUsage {
  /** Undefined when nothing was reported or counts here. */
  readonly usage: Usage | undefined;
  readonly status: UsageStatus;
  /** Whether nothing is charged. */
  readonly isFree: boolean;
  readonly calls: readonly CallUsage[];
  /** Of images that are charged by the piece. */
  readonly pieces?: ImagePieces | undefined;
  /** The provider's id of a background response that was created here, or whose usage this may be. */
  readonly responseId: string | undefined;
  readonly background: BackgroundReference | undefined;
  /** Whether the response reported usage that does not count here. */
  readonly isReadBack: boolean;
}

/** The usage that counts for an exchange. Reading back counts nothing, except once for a background response, which the store decides. See
 *  `stored-responses.ts`. A call without reported usage is estimated. */
export function chargedUsage(
  exchange: CapturedExchange,
  request: OpenBody,
  response: OpenBody,
  facts: BodyFacts | undefined,
): ChargedUsage {
  const read = facts && readUsage(facts, usageFormOf(exchange, request));
  const usage = read === 'undecodable' ? undefined : read;
  if (readsBack(exchange)) return batchUsage(exchange, facts) ?? readBackUsage(exchange, usage, facts);
  const free = isFree(exchange);
  const pieces = usage === undefined && !free ? piecesOf(exchange, request, facts) : undefined;
  if (pieces !== undefined) return { ...NOTHING_READ, status: 'reported', pieces };
  const created = free
    ? createdBatch(exchange, facts?.id)
    : usage === undefined
      ? pendingResponse(exchange, facts?.response, () => isInBackground(request, response))
      : undefined;
  const status = statusOf(read, exchange, facts, free);
  return {
    usage,
    status,
    isFree: free,
    calls: free ? [] : callsOf(status, usage, () => estimateOf(exchange, request, response, created !== undefined)),
    isReadBack: false,
    ...referenceTo('created', created),
  };
}

/** `isGoingOn`: the provider generates after the response. */
function estimateOf(exchange: CapturedExchange, request: OpenBody, response: OpenBody, isGoingOn: boolean): CallUsage {
  const { provider, path, latencyUs, outcome } = exchange;
  const model = response.facts()?.model ?? request.facts()?.model ?? '';
  const elapsedMs = isGoingOn ? undefined : latencyUs / 1_000;
  return estimatedCall({ provider, path, model, request, response, elapsedMs, isCut: isGoingOn || outcome !== 'completed' });
}

const NOTHING_READ = {
  usage: undefined,
  isFree: false,
  calls: [],
  responseId: undefined,
  background: undefined,
  isReadBack: false,
} as const;

function piecesOf({ path }: CapturedExchange, request: OpenBody, facts: BodyFacts | undefined): ImagePieces | undefined {
  if (!path.includes('/images/')) return undefined;
  const asked = request.facts();
  return imagePieces(facts?.model ?? asked?.model ?? '', asked?.details ?? {}, facts?.items ?? 0);
}

/** The usage of a batch, when its results are read. */
function batchUsage(exchange: CapturedExchange, facts: BodyFacts | undefined): ChargedUsage | undefined {
  const results = batchResultsOf(exchange);
  const batch = facts?.batch;
  if (results === undefined || batch === undefined || batch.calls.length === 0 || exchange.sentStatus >= 400) return undefined;
  const isPartial = batch.isPartial || exchange.outcome !== 'completed';
  const status = isPartial ? 'partial' : 'reported';
  const usage = usageOfCalls(batch.calls, isPartial);
  return { usage, status, isFree: false, calls: batch.calls, isReadBack: false, ...referenceTo('finished', results) };
}

function readBackUsage(exchange: CapturedExchange, usage: Usage | undefined, facts: BodyFacts | undefined): ChargedUsage {
  const finished = usage === undefined ? undefined : finishedResponse(exchange, facts?.response);
  const isCounted = finished !== undefined;
  return {
    usage: isCounted ? usage : undefined,
    status: isCounted ? 'reported' : facts === undefined ? 'undecodable' : 'missing',
    isFree: !isCounted,
    calls: isCounted ? (usage?.calls ?? []) : [],
    isReadBack: usage !== undefined && !isCounted,
    ...referenceTo('finished', finished),
  };
}

function statusOf(
  read: ReturnType<typeof readUsage>,
  exchange: CapturedExchange,
  facts: BodyFacts | undefined,
  free: boolean,
): UsageStatus {
  if (facts === undefined || read === 'undecodable') return 'undecodable';
  if (read !== undefined) return read.isPartial && !free ? 'partial' : 'reported';
  if (free) return 'missing';
  return isUnreadable(exchange) ? 'undecodable' : 'estimated';
}

/** A page instead of JSON, for example. Audio and transcripts have no usage. */
function isUnreadable({ path, response: { kind, bytes } }: CapturedExchange): boolean {
  return kind === undefined && bytes > 0 && !path.includes('/audio/');
}

/** `estimate` is made only when it is needed. */
function callsOf(status: UsageStatus, usage: Usage | undefined, estimate: () => CallUsage): readonly CallUsage[] {
  if (usage === undefined) return [estimate()];
  return status === 'partial' ? withEstimate(usage.calls, estimate()) : usage.calls;
}

function usageFormOf({ provider, path }: CapturedExchange, request: OpenBody): UsageForm {
  const medium = path.includes('/images/')
    ? 'image'
    : /\/audio\/(?:transcriptions|translations)/.test(path)
      ? 'audio'
      : undefined;
  // Anthropic's endpoint for clients of OpenAI reports as OpenAI does.
  const form = provider === 'anthropic' && !path.includes('/chat/completions') ? 'anthropic' : 'openai';
  return { provider: form, medium, asksForHour: () => request.mentions('"1h"') };
}

/** Whether an unfinished response is a background response. In JSON only background responses are unfinished. A stream may lack the field. */
function isInBackground(request: OpenBody, response: OpenBody): boolean {
  return response.captured.kind === 'json' || request.facts()?.details['background'] === true;
}

function referenceTo(role: BackgroundReference['role'], responseId: string | undefined) {
  return { responseId, background: responseId === undefined ? undefined : backgroundReference(role, responseId) };
}
