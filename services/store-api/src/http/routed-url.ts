// Express decodes parameters while it looks for a route, and stops where one is malformed, before the key of the request was checked. What it decodes
// here is the text that was sent, which handlers get decoded after that.

/** The URL by which express finds the route of a path. It parses what starts with no slash by rules of its own; `*` has no route. */
export function routedUrl(path: string): string {
  return path.startsWith('/') ? path.replaceAll('%', '%25') : '*';
}

/** `/v1/stores/{domain}` as express writes it. */
export function routeTemplate(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** The parameters of a routed URL, decoded; what was malformed is undefined. */
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
