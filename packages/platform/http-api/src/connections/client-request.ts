import type { IncomingHttpHeaders } from 'node:http';
import { IncomingMessage } from '../node-http.ts';

/** Clients use few header names. The lower case of up to this many is cached. */
const CACHED_NAMES = 2_048;

const lowerCaseNames = new Map<string, string>();

/** A request with the same `headers` as in Node, at half the cost. Node reads them once per request to check `Expect`. */
export const ClientRequest: typeof IncomingMessage = class ClientRequest extends IncomingMessage {
  #hasHeaders = false;

  static {
    const inherited = Object.getOwnPropertyDescriptor(IncomingMessage.prototype, 'headers');
    // Not an accessor in the class: the types of Node declare a field, which must not be overridden by one.
    Object.defineProperty(this.prototype, 'headers', {
      // The headers are stored where Node stores its own, because express replaces the prototype of a request, and with it this accessor.
      get(this: ClientRequest): IncomingHttpHeaders {
        if (!this.#hasHeaders) {
          this.#hasHeaders = true;
          const headers = simpleHeaders(this.rawHeaders);
          if (headers !== undefined) inherited?.set?.call(this, headers);
        }
        return inherited?.get?.call(this) as IncomingHttpHeaders;
      },
      set(this: ClientRequest, headers: IncomingHttpHeaders) {
        this.#hasHeaders = true;
        inherited?.set?.call(this, headers);
      },
    });
  }
};

/** The headers by name in lower case, when each occurs once and is a plain text. Undefined for all others, which Node joins or drops by its own
 *  rules. These include property names of every object, such as `constructor`. */
function simpleHeaders(raw: readonly string[]): IncomingHttpHeaders | undefined {
  const headers: IncomingHttpHeaders = {};
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = lowerCaseOf(raw[i] ?? '');
    if (headers[name] !== undefined || name === 'set-cookie') return undefined;
    headers[name] = raw[i + 1];
  }
  return headers;
}

function lowerCaseOf(name: string): string {
  const cached = lowerCaseNames.get(name);
  if (cached !== undefined) return cached;
  const lower = name.toLowerCase();
  if (lowerCaseNames.size < CACHED_NAMES) lowerCaseNames.set(name, lower);
  return lower;
}
