import type { IncomingHttpHeaders } from 'node:http';
import { IncomingMessage } from '../node-http.ts';

/** The header names that clients write are few; the lower case of so many is cached. */
const CACHED_NAMES = 2_048;

const lowerCaseNames = new Map<string, string>();

/** A request whose `headers` are Node's, at half of the cost. Node reads them once for every request, looking for `Expect`. */
export const ClientRequest: typeof IncomingMessage = class ClientRequest extends IncomingMessage {
  #hasHeaders = false;

  static {
    const inherited = Object.getOwnPropertyDescriptor(IncomingMessage.prototype, 'headers');
    // Not an accessor in the class: the types of Node declare a field, which must not be overridden by one.
    Object.defineProperty(this.prototype, 'headers', {
      // The headers are kept where Node keeps its own: express replaces the prototype of a request, and with it this accessor.
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

/** The headers by name in lower case, when each occurs once and is a plain text. Undefined for all others, which Node joins or drops by rules
 *  of its own; among them are names that every object has, such as `constructor`. */
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
