/** Settings of exporters. */
interface ExporterFields {
  readonly endpoint?: string | undefined;
  readonly protocol: 'http/protobuf' | 'http/json' | 'grpc';
  readonly insecure: boolean;
  readonly export_timeout_ms: number;
}

type Signal = 'traces' | 'metrics';

/** Those of both signals, and those that differ for one. */
type ExporterSettings = ExporterFields & {
  readonly [signal in Signal]?: { [field in keyof ExporterFields]?: ExporterFields[field] | undefined } | undefined;
};

const URL_LIKE = /^(?:(https?):\/\/)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?((?:\/[A-Za-z0-9._~%-]*)*)$/;

/** Reads `host`, `host:port` or a URL without credentials, query and fragment; undefined for anything else. The host includes the port. */
export function parseEndpoint(text: string) {
  const [, scheme, host, port, path = ''] = URL_LIKE.exec(text) ?? [];
  if (host === undefined || Number(port ?? 1) > 65_535 || Number(port ?? 1) === 0) return undefined;
  return {
    scheme,
    host: port === undefined ? host : `${host}:${port}`,
    hasPort: port !== undefined,
    path,
  };
}

/** How one signal is exported. The scheme of a URL has precedence over `insecure`. A missing port is the protocol's, unless a URL was given for
 *  HTTP. For HTTP the path of the signal is appended, unless the URL is for this signal alone. Spec: G14.1, G14.11, G14.36. */
export function signalExporter(settings: ExporterSettings, signal: Signal) {
  const own = settings[signal] ?? {};
  const {
    protocol = settings.protocol,
    insecure = settings.insecure,
    export_timeout_ms: timeoutMs = settings.export_timeout_ms,
  } = own;
  const parsed = parseEndpoint(own.endpoint ?? settings.endpoint ?? 'localhost') ?? {
    scheme: undefined,
    host: 'localhost',
    hasPort: false,
    path: '',
  };
  const isUrl = parsed.scheme !== undefined;
  const scheme = parsed.scheme ?? (insecure ? 'http' : 'https');
  // A URL without a port has its scheme's default port, which is not customary for gRPC.
  const isWhole = parsed.hasPort || (isUrl && protocol !== 'grpc');
  const address = `${scheme}://${parsed.host}${isWhole ? '' : `:${protocol === 'grpc' ? 4317 : 4318}`}`;
  const path = own.endpoint !== undefined && isUrl ? parsed.path : `${parsed.path.replace(/(?<!\/)\/+$/, '')}/v1/${signal}`;
  return { protocol, timeoutMs, url: protocol === 'grpc' ? address : address + path };
}
