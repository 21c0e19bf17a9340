/** The settings that an address is made of. */
interface EndpointSettings {
  readonly endpoint?: string | undefined;
  readonly protocol: 'http/protobuf' | 'http/json' | 'grpc';
  readonly insecure: boolean;
}

const URL_LIKE = /^(?:(https?):\/\/)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?((?:\/[A-Za-z0-9._~%-]*)*)$/;

/** Reads `host`, `host:port` or a URL without credentials, query and fragment; undefined for anything else. The host includes the port. The
 *  path has no trailing slash. */
export function parseEndpoint(text: string) {
  const [, scheme, host, port, path = ''] = URL_LIKE.exec(text) ?? [];
  if (host === undefined || Number(port ?? 1) > 65_535 || Number(port ?? 1) === 0) return undefined;
  return {
    scheme,
    host: port === undefined ? host : `${host}:${port}`,
    hasPort: port !== undefined,
    path: path.replace(/(?<!\/)\/+$/, ''),
  };
}

/** The address to export to, as a URL. Its scheme has precedence over `insecure`. A missing port is the protocol's, unless a URL was given
 *  for HTTP. Signal paths are appended for HTTP. Spec: G14.1, G14.11. */
export function exportUrl(
  { endpoint = 'localhost', protocol, insecure }: EndpointSettings,
  signal: 'traces' | 'metrics',
): string {
  const parsed = parseEndpoint(endpoint) ?? { scheme: undefined, host: 'localhost', hasPort: false, path: '' };
  const usualPort = protocol === 'grpc' ? 4317 : 4318;
  const scheme = parsed.scheme ?? (insecure ? 'http' : 'https');
  // A URL without a port has its scheme's default port, which is not customary for gRPC.
  const isWhole = parsed.hasPort || (parsed.scheme !== undefined && protocol !== 'grpc');
  const host = isWhole ? parsed.host : `${parsed.host}:${usualPort}`;
  return protocol === 'grpc' ? `${scheme}://${host}` : `${scheme}://${host}${parsed.path}/v1/${signal}`;
}
