/** A configured collector address. */
export interface Endpoint {
  /** Undefined when only host and port were given. */
  readonly scheme: 'http' | 'https' | undefined;
  /** With its port when there is one. */
  readonly host: string;
  readonly hasPort: boolean;
  /** Without a trailing slash; '' for none. */
  readonly path: string;
}

/** The settings of an address. */
interface EndpointSettings {
  readonly endpoint?: string | undefined;
  readonly protocol: 'http/protobuf' | 'http/json' | 'grpc';
  readonly insecure: boolean;
}

const URL_LIKE = /^(?:(https?):\/\/)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?((?:\/[A-Za-z0-9._~%-]*)*)$/;

/** Reads `host`, `host:port` or a URL without credentials, query and fragment; undefined for anything else. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const [, scheme, host, port, path = ''] = URL_LIKE.exec(text) ?? [];
  if (host === undefined || Number(port ?? 1) > 65_535 || Number(port ?? 1) === 0) return undefined;
  return {
    scheme: scheme === 'http' || scheme === 'https' ? scheme : undefined,
    host: port === undefined ? host : `${host}:${port}`,
    hasPort: port !== undefined,
    path: path.replace(/(?<!\/)\/+$/, ''),
  };
}

/** The address to export to, as a URL: its scheme has precedence over `insecure`; a missing port defaults to that of the protocol,
 *  unless a URL was given for HTTP.
 *  Signal paths are appended for HTTP. Spec: G14.1, G14.11. */
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
