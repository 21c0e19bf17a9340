import { bodyKindOf } from '@vitrine/privacy/bodies/body-kind';
import type { BodyKind } from '@vitrine/privacy/redaction';
import { boundaryOf } from '../../multipart/boundary.ts';
import { responseKindOf } from '../../stored-responses.ts';
import type { CapturedBody, CapturedExchange } from '../../captured-exchange.ts';
import { plainExchange } from '../plain-exchange.ts';
import type { CorpusExchange } from './exchange-corpus.ts';
import { wireBodyOf } from './wire-body.ts';

/** When the corpus was written. Prices are those of this day. */
const AT = Date.UTC(2026, 10, 28, 12);

/** An exchange of the corpus as the proxy captures it. `responseBody`: the response as it arrived. */
export function capturedExchange(
  { request, response }: CorpusExchange,
  responseBody: Pick<CapturedBody, 'coding' | 'chunks'> = { coding: '', chunks: [wireBodyOf(response).bytes] },
): CapturedExchange {
  const sent = wireBodyOf(request);
  const isCut = response.ends === 'cut';
  const provider = request.path.startsWith('/anthropic/') ? 'anthropic' : 'openai';
  const received = wireBodyOf(response);
  const kind = responseKindOf({ ...request, provider }, received.contentType);
  return plainExchange(0, {
    provider,
    method: request.method,
    path: request.path,
    sentStatus: response.status,
    outcome: isCut ? 'upstream_error' : 'completed',
    startedAt: AT,
    endedAt: AT + 1_000,
    request: {
      ...captured(bodyKindOf(sent.contentType), { coding: '', chunks: [sent.bytes] }, false),
      boundary: boundaryOf(sent.contentType),
    },
    response: captured(kind, responseBody, isCut),
  });
}

function captured(kind: BodyKind, body: Pick<CapturedBody, 'coding' | 'chunks'>, isCut: boolean): CapturedBody {
  const bytes = body.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { ...body, kind, bytes, ending: isCut ? 'cut' : 'whole', facts: undefined };
}
