// Express decodes parameters while matching a route, and fails on a malformed one before the key of the request was checked. Here the
// URL is encoded twice: express decodes it to the raw text, which is decoded afterwards for handlers.

/**
 * The URL by which express finds the route of a path. Express parses a target without a leading slash by other rules; `*` has no route.
 */
export function routedUrl(path: string): string {
  return path.startsWith('/') ? path.replaceAll('%', '%25') : '*';
}

/** Converts `/v1/stores/{domain}` to the syntax of express. */
export function routeTemplate(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** The parameters of a routed URL, decoded; malformed ones are undefined. */
export function decodedParams(params: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(params).map(([name, sent]) => [name, decoded(sent)]));
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The path and the query of a request target, both undecoded; that of the absolute form (RFC 9112, 3.2.2) without its origin. */
export function requestTarget(url: string): { readonly path: string; readonly search: string } {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  const [whole = ''] = target.split('#', 1);
  const at = whole.indexOf('?');
  return at === -1 ? { path: whole, search: '' } : { path: whole.slice(0, at), search: whole.slice(at + 1) };
}
