import {
  type Metadata,
  Server as GrpcServer,
  ServerCredentials,
  status as grpcStatus,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import {
  decodeMetrics,
  decodeSpans,
  type CollectedMetric,
  type CollectedSpan,
  type OtlpEncoding,
} from './collected-telemetry.ts';

/** How a collector handles an export. */
type CollectorBehaviour = 'accept' | 'hang' | 'refuse';

/** An OpenTelemetry collector for tests: OTLP over HTTP (protobuf and JSON, gzip too) and over gRPC, on any free ports. It keeps all decoded data,
 *  oldest first. */
export interface TestCollector extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40000`. */
  readonly url: string;
  readonly grpcUrl: string;
  readonly spans: readonly CollectedSpan[];
  /** The newest export of metrics. */
  readonly metrics: readonly CollectedMetric[];
  /** All exports of metrics. */
  readonly metricExports: readonly (readonly CollectedMetric[])[];
  /** The transport of each request, such as `http/protobuf+gzip /v1/traces`. */
  readonly requests: readonly string[];
  /** The headers of each request, or its gRPC metadata. */
  readonly requestHeaders: readonly Readonly<Record<string, unknown>>[];
  /** `hang`: reads requests and never responds. `refuse`: responds with 400 at once, which clients do not retry. */
  behaviour: CollectorBehaviour;
}

type Signal = 'traces' | 'metrics';

const SERVICES: Readonly<Record<Signal, string>> = {
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  metrics: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
};

/** Starts a collector. `discard`: respond and keep nothing, for measuring. */
export async function startTestCollector({ discard = false }: { discard?: boolean } = {}): Promise<TestCollector> {
  const spans: CollectedSpan[] = [];
  const metricExports: CollectedMetric[][] = [];
  const requests: string[] = [];
  const requestHeaders: Readonly<Record<string, unknown>>[] = [];
  const state = { behaviour: 'accept' as CollectorBehaviour };
  const take: Take = (signal, { body, encoding, how, headers }) => {
    if (discard) return;
    requests.push(how);
    requestHeaders.push(headers);
    if (signal === 'traces') spans.push(...decodeSpans(body, encoding));
    else metricExports.push(decodeMetrics(body, encoding));
  };
  const http = createServer((request, response) => void respond(request, response, state, take));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const grpc = await startGrpc(state, take);
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    grpcUrl: `http://127.0.0.1:${grpc.port}`,
    spans,
    metricExports,
    get metrics() {
      return metricExports.at(-1) ?? [];
    },
    requests,
    requestHeaders,
    get behaviour() {
      return state.behaviour;
    },
    set behaviour(behaviour: CollectorBehaviour) {
      state.behaviour = behaviour;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      grpc.server.forceShutdown();
      await closed;
    },
  };
}

interface ReceivedExport {
  readonly body: Uint8Array;
  readonly encoding: OtlpEncoding;
  readonly how: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

type Take = (signal: Signal, received: ReceivedExport) => void;

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  state: { behaviour: CollectorBehaviour },
  take: Take,
): Promise<void> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (state.behaviour === 'hang') return;
    if (state.behaviour === 'refuse') return void response.writeHead(400).end();
    const coding = request.headers['content-encoding'];
    const type = request.headers['content-type'] ?? '';
    const body = coding === 'gzip' ? gunzipSync(Buffer.concat(chunks)) : Buffer.concat(chunks);
    const encoding = type === 'application/json' ? 'json' : 'protobuf';
    // Collectors of vendors have other paths than `/v1/traces`.
    const signal = /\/(traces|metrics)$/.exec(request.url ?? '')?.[1] as Signal | undefined;
    if (signal === undefined || request.method !== 'POST') return void response.writeHead(404).end();
    const how = `http/${encoding}${coding === undefined ? '' : `+${coding}`} ${request.url}`;
    take(signal, { body, encoding, how, headers: request.headers });
    response.writeHead(200, { 'content-type': type }).end(encoding === 'json' ? '{}' : undefined);
  } catch (error) {
    if (!response.destroyed && !response.headersSent) response.writeHead(500).end(String(error));
  }
}

async function startGrpc(state: { behaviour: CollectorBehaviour }, take: Take): Promise<{ server: GrpcServer; port: number }> {
  const server = new GrpcServer();
  for (const signal of ['traces', 'metrics'] as const) {
    server.addService(bytesService(SERVICES[signal]), {
      export: (call: { request: Buffer; metadata: Metadata }, callback: (error: object | null, response?: Buffer) => void) => {
        if (state.behaviour === 'hang') return;
        if (state.behaviour === 'refuse') return callback({ code: grpcStatus.INVALID_ARGUMENT, details: 'refused' });
        const received = { body: call.request, encoding: 'protobuf', how: `grpc ${signal}` } as const;
        take(signal, { ...received, headers: call.metadata.getMap() });
        callback(null, Buffer.alloc(0));
      },
    });
  }
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
    error === null ? resolve(port) : reject(error),
  );
  return { server, port: await promise };
}

const same = (value: Buffer): Buffer => value;

/** One method that passes raw bytes. */
function bytesService(path: string): ServiceDefinition {
  const codecs = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
  return { export: { path, requestStream: false, responseStream: false, ...codecs } };
}
