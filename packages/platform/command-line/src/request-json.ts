import { Fault, messageOf } from '@vitrine/faults/fault';
import type { z } from 'zod';

export interface JsonRequest<S extends z.ZodType> {
  /** The kind of service that is expected, such as `Vitrine gateway`. */
  readonly service: string;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The schema of a successful response. */
  readonly shape: S;
}

/** Responses of an admin API are small. A larger one comes from another service. */
const MAX_RESPONSE_BYTES = 1_048_576;

/** Requests JSON from a running service. The headers may contain a key. Redirects are not followed, so only this address gets the
 *  request.
 *  Faults: `service_unreachable`, `service_refused`. */
export async function requestJson<S extends z.ZodType>(request: JsonRequest<S>): Promise<z.output<S>> {
  const { service, baseUrl, shape } = request;
  const { response, text } = await send(request);
  const body = parse(text);
  const result = response.ok ? shape.safeParse(body) : undefined;
  if (result?.success === true) return result.data;
  const error = typeof body === 'object' && body !== null && 'error' in body ? String(body.error) : undefined;
  if (response.ok || error === undefined)
    throw new Fault('service_unreachable', { say: `${baseUrl} did not respond like a ${service} (status ${response.status})` });
  throw new Fault('service_refused', { say: `the ${service} at ${baseUrl} responded with ${response.status}: ${error}` });
}

async function send({ service, baseUrl, path, headers, timeoutMs }: Omit<JsonRequest<z.ZodType>, 'shape'>) {
  try {
    const response = await fetch(baseUrl + path, { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    return { response, text: await textOf(response) };
  } catch (cause) {
    // The error of fetch is only "fetch failed"; the reason is its cause.
    const inner = typeof cause === 'object' && cause !== null && 'cause' in cause ? cause.cause : undefined;
    throw new Fault('service_unreachable', { say: `no ${service} reached at ${baseUrl}: ${messageOf(inner ?? cause)}`, cause });
  }
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
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
