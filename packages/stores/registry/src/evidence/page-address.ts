/** An address as a page names it. `host` is empty for the site itself. */
export interface PageAddress {
  readonly host: string;
  /** Path and query. */
  readonly path: string;
}

const HOST = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/;
const SCHEME = /^[a-z][a-z0-9+.-]{0,20}:/i;
/** A longer address is no loader of anything. */
const ADDRESS_BOUND = 2_048;

/** Splits addresses of one page. Does not build a URL: one takes 1 µs, and a page has thousands. */
export class AddressReader {
  readonly #own: string;
  #base = '';

  /** @param host - of the page. */
  constructor(host: string) {
    this.#own = withoutWww(host);
  }

  /** `<base href>`: relative addresses are below its host. */
  setBase(address: string): void {
    this.#base = this.read(address)?.host ?? '';
  }

  /** Undefined for what is not http(s): `data:`, `javascript:`, `mailto:`. */
  read(raw: string): PageAddress | undefined {
    if (raw.length > ADDRESS_BOUND) return undefined;
    const address = trimmed(raw);
    const first = address.charCodeAt(0);
    if (first === SLASH && address.charCodeAt(1) !== SLASH) return { host: this.#base, path: withoutFragment(address) };
    if (first === SLASH) return this.#absolute(address, 2);
    if (startsWithHttp(address)) return this.#absolute(address, address.indexOf('/') + 2);
    if (address === '' || first === HASH || SCHEME.test(address)) return undefined;
    return { host: this.#base, path: `/${withoutFragment(address)}` };
  }

  /** A string that starts with a host instead of a scheme, such as `cdn.attn.tv/brand/dtag.js`. */
  readBare(address: string): PageAddress | undefined {
    return this.#absolute(address, 0);
  }

  #absolute(address: string, start: number): PageAddress | undefined {
    let end = start;
    while (end < address.length && !isEndOfAuthority(address.charCodeAt(end))) end++;
    const authority = address.slice(start, end).toLowerCase();
    // `https://vendor.com@other.com/` is on other.com.
    const afterUser = authority.slice(authority.lastIndexOf('@') + 1);
    const port = afterUser.indexOf(':');
    const host = port === -1 ? afterUser : afterUser.slice(0, port);
    if (!HOST.test(host)) return undefined;
    const rest =
      address.charCodeAt(end) === SLASH ? withoutFragment(address.slice(end)) : `/${withoutFragment(address.slice(end))}`;
    return { host: withoutWww(host) === this.#own ? '' : host, path: rest };
  }
}

const SLASH = 0x2f;
const HASH = 0x23;

function isEndOfAuthority(code: number): boolean {
  return code === SLASH || code === 0x3f || code === HASH || code === 0x5c;
}

function startsWithHttp(address: string): boolean {
  if ((address.charCodeAt(0) | 0x20) !== 0x68) return false;
  const head = address.slice(0, 8).toLowerCase();
  return head === 'https://' || head.startsWith('http://');
}

function withoutFragment(address: string): string {
  const at = address.indexOf('#');
  return at === -1 ? address : address.slice(0, at);
}

export function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host;
}

function trimmed(value: string): string {
  return value.charCodeAt(0) <= 0x20 || value.charCodeAt(value.length - 1) <= 0x20 ? value.trim() : value;
}
