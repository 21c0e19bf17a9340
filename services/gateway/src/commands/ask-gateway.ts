import { Fault, messageOf } from '@vitrine/faults/fault';

export interface GatewayRequest {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly path: string;
  readonly keyHeader: string;
  readonly key: string | undefined;
  readonly timeoutMs: number;
}

/** Answers of the admin API are small; more is not one of a gateway. */
const MAX_ANSWER_BYTES = 1_048_576;

/** Asks a running gateway. The key goes to the address that was given and nowhere else: redirects are not followed.
 *  Faults: `gateway_unreachable`, `gateway_refused`. */
export async function askGateway({ baseUrl, path, keyHeader, key, timeoutMs }: GatewayRequest): Promise<unknown> {
  const unreachable = (reason: string, cause?: unknown) =>
    new Fault('gateway_unreachable', { say: `no gateway answers at ${baseUrl}: ${reason}`, cause });
  let response: Response;
  let text: string;
  try {
    const headers = key === undefined ? {} : { [keyHeader]: key };
    response = await fetch(baseUrl + path, { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    text = await textOf(response);
  } catch (cause) {
    // The fetch of node says only "fetch failed"; its cause says why.
    const inner = typeof cause === 'object' && cause !== null && 'cause' in cause ? cause.cause : undefined;
    throw unreachable(messageOf(inner ?? cause), cause);
  }
  const answer = parse(text);
  if (response.ok && answer !== undefined) return answer;
  const error = typeof answer === 'object' && answer !== null && 'error' in answer ? String(answer.error) : undefined;
  if (error === undefined) throw unreachable(`what answers there (${response.status}) is none`);
  throw new Fault('gateway_refused', { say: `the gateway at ${baseUrl} answered ${response.status}: ${error}` });
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
