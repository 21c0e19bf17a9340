/** The path and the query of a request target, both undecoded; that of the absolute form (RFC 9112, 3.2.2) without its origin. */
export function requestTarget(url: string): { readonly path: string; readonly search: string } {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  const [whole = ''] = target.split('#', 1);
  const at = whole.indexOf('?');
  return at === -1 ? { path: whole, search: '' } : { path: whole.slice(0, at), search: whole.slice(at + 1) };
}
