import type { BodyFacts } from '@vitrine/trace-derivation/body-facts';
import { openBodyFactsReader } from '@vitrine/trace-derivation/body-facts-reader';
import type { CapturedBody, CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import { outcomeOf, statusOf } from '@vitrine/trace-derivation/exchange-outcome';
import type { Outcome } from '@vitrine/traces/trace';

/** A longer captured body is not parsed: that would take the proxy's thread 100 µs and more. */
const PARSED_MAX_BYTES = 65_536;

/** The model that a request names, if it is cheap to find. For a cut or broken body, a model before the break. Undefined for an encoded or a long
 *  body. */
export function requestModelOf(body: CapturedBody): string | undefined {
  const isLong = body.facts === undefined && body.bytes > PARSED_MAX_BYTES;
  return isLong ? undefined : factsOf(body, 'json')?.model;
}

/** The status that an exchange's trace will have. */
export function metricsStatusOf(exchange: Pick<CapturedExchange, 'outcome' | 'sentStatus' | 'response'>): number {
  return statusOf(exchange, metricsOutcomeOf(exchange));
}

/** The outcome that its trace will have, except for streams that end with an error of the provider: those are read later. */
export function metricsOutcomeOf(exchange: Pick<CapturedExchange, 'outcome' | 'response'>): Outcome {
  // Of the response, only whether a client that left had received everything makes a difference.
  const facts = exchange.outcome === 'client_closed' ? factsOf(exchange.response, 'sse') : undefined;
  return outcomeOf(exchange, facts);
}

function factsOf({ facts, kind, coding, chunks }: CapturedBody, wanted: 'json' | 'sse'): BodyFacts | undefined {
  if (facts !== undefined) return facts === 'undecodable' ? undefined : facts;
  if (kind !== wanted || coding !== '') return undefined;
  const reader = openBodyFactsReader(kind);
  for (const chunk of chunks) reader.push(chunk);
  return reader.end();
}

/** Operation names of the GenAI conventions by the end of a path. */
const OPERATIONS: readonly (readonly [RegExp, string])[] = [
  [/\/chat\/completions$|\/messages$|\/responses$/, 'chat'],
  [/\/embeddings$/, 'embeddings'],
  [/\/completions$|\/complete$/, 'text_completion'],
];

/** The operation that a provider's path requests; undefined for what generates nothing (lists of models, files, counts). */
export function genaiOperationName(path: string): string | undefined {
  const query = path.indexOf('?');
  const plain = query === -1 ? path : path.slice(0, query);
  return OPERATIONS.find(([pattern]) => pattern.test(plain))?.[1];
}
