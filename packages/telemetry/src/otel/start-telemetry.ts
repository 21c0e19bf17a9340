import { context, diag, DiagLogLevel, logs, metrics, propagation, trace } from '@opentelemetry/api';
import { RuntimeNodeInstrumentation } from '@opentelemetry/instrumentation-runtime-node';
import { envDetector, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import { PeriodicExportingMetricReader, type IMetricReader, type MetricProducer } from '@opentelemetry/sdk-metrics';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { randomUUID } from 'node:crypto';
import { scrub } from '@vitrine/privacy/scrub';
import { BatchedSpanSink } from './batched-span-sink.ts';
import type { SpanOrigin, SpanSink } from './ended-span.ts';
import { createGatewayMetrics, type GatewayMetrics } from './gateway-metrics.ts';
import { createGatewaySpans, type GatewaySpans } from './gateway-spans.ts';
import { telemetryParts, type OtelConfig } from './otel-config.ts';
import { createMetricExporter, createSpanExporter, createSpanSender } from './otlp-exporters.ts';
import { PackedSpanSink, type PackedSpans } from './packed-span-sink.ts';
import { CARDINALITY_LIMIT, RequestSeries } from './request-series.ts';
import { ScrapeReader } from './scrape-reader.ts';
import { seriesProducer } from './series-producer.ts';
import type { SpanCounts } from './span-bounds.ts';
import { ExportErrorLog } from './export-error-log.ts';
import { scrapeFormat, scrapeText, type Scrape } from './scrape-text.ts';

const SCOPE = 'vitrine.gateway';

/** How often the event loop's delay is looked at. The usual 10 ms took 8 ms of CPU a second on an idle process, this takes 1.5. */
const EVENT_LOOP_PRECISION_MS = 50;

type Tell = (message: string) => void;

/** Running telemetry: what the gateway tells it, what it answers a scrape with, and how it ends. */
export interface Telemetry extends Disposable {
  /** Undefined when no metrics go anywhere. */
  readonly metrics: GatewayMetrics | undefined;
  /** Undefined when spans are off: a client's own trace headers then pass unchanged. */
  readonly spans: GatewaySpans | undefined;
  /** Answers a scrape in the format that `accept` asks for; undefined when there is no scrape. */
  readonly scrape: ((accept: string | undefined) => Promise<Scrape>) | undefined;
  readonly spanCounts: Readonly<SpanCounts>;
  /** Two of the steps of a shutdown, to be bounded by the caller: sends out what there is and ends the part. Neither rejects. */
  flushSpans(): Promise<void>;
  flushMetrics(): Promise<void>;
}

export interface TelemetryOptions {
  readonly config: OtelConfig;
  readonly version: string;
  /** Told what goes wrong on the way to the collector, at once and then every minute at most. Nothing of it reaches the process in any
   *  other way. */
  readonly onExportError: Tell;
}

/** Starts what `config` asks for; undefined when it asks for nothing. Import this module only then: it loads the OpenTelemetry SDK
 *  (240 ms, 40 MB). One at a time in a process, because the SDK registers itself globally; disposal makes room for the next, and
 *  does not wait for what was not flushed before.
 *  Spec: gateway, Telemetry export configuration, Spans, Metrics; decisions, section 6. */
export async function startTelemetry({ config, version, onExportError }: TelemetryOptions): Promise<Telemetry | undefined> {
  const parts = telemetryParts(config);
  if (parts === undefined) return undefined;
  const spanCounts: SpanCounts = { exported: 0, failed: 0, dropped: 0 };
  const exportErrors = new ExportErrorLog(onExportError);
  const trouble = (message: string) => exportErrors.add(message);
  const origin: SpanOrigin = { resource: resourceOf(config, version), scope: { name: SCOPE, version } };
  const sink = parts.spans ? await createSink(config, origin, spanCounts, trouble) : undefined;
  const clock = { now: () => performance.now(), epochMs: () => Date.now() };
  const series = new RequestSeries(clock.epochMs);
  const producer = seriesProducer(series, origin.scope, clock.epochMs);
  const push = parts.push ? await pushReader(config, producer) : undefined;
  const scrapeReader = parts.scrape ? new ScrapeReader(CARDINALITY_LIMIT, producer) : undefined;
  const readers = [push, scrapeReader].filter((reader) => reader !== undefined);

  const unregister = register(origin.resource, readers, trouble);
  const meter = readers.length > 0 ? metrics.getMeter(SCOPE, version) : undefined;
  const { genai, sampling_ratio: samplingRatio } = config;
  const report = (part: string) => (error: unknown) => trouble(`${part} could not be flushed: ${String(error)}`);
  // A second call would find the part ended and fail.
  const flushSpans = once(() => sink?.shutdown().catch(report('spans')));
  const flushMetrics = once(() => push?.shutdown().catch(report('metrics')));
  return {
    metrics: meter && createGatewayMetrics(meter, { series, spans: spanCounts, clock: clock.epochMs, genai }),
    spans: sink && createGatewaySpans(sink, { samplingRatio, genai, clock }),
    scrape: scrapeReader && createScrape(scrapeReader),
    spanCounts,
    flushSpans,
    flushMetrics,
    [Symbol.dispose]: () => {
      for (const end of [flushSpans(), flushMetrics(), scrapeReader?.shutdown()]) end?.catch(report('telemetry'));
      unregister();
      exportErrors[Symbol.dispose]();
    },
  };
}

async function createSink(config: OtelConfig, origin: SpanOrigin, counts: SpanCounts, trouble: Tell): Promise<SpanSink> {
  if (config.protocol !== 'http/protobuf')
    return new BatchedSpanSink(await createSpanExporter(config), config.export_timeout_ms, counts, origin);
  const send = createSpanSender(config);
  const sendOrTell = async (spans: PackedSpans) => {
    try {
      await send(spans);
    } catch (error) {
      trouble(`spans could not be exported: ${String(error)}`);
      throw error;
    }
  };
  return new PackedSpanSink(sendOrTell, counts, origin);
}

async function pushReader(config: OtelConfig, producer: MetricProducer): Promise<IMetricReader> {
  return new PeriodicExportingMetricReader({
    exporter: await createMetricExporter(config),
    metricProducers: [producer],
    exportIntervalMillis: config.metric_export_interval_ms,
    // The reader refuses a timeout above its interval.
    exportTimeoutMillis: Math.min(config.export_timeout_ms, config.metric_export_interval_ms),
    cardinalityLimits: { default: CARDINALITY_LIMIT },
  });
}

/** Starts the SDK with exactly these readers, and with what carries the ids of a request to its log lines. What is passed wins over what
 *  the SDK would read from OTEL_* variables by itself, by rules that are not the specification's. */
function register(resource: Resource, readers: IMetricReader[], onExportError: Tell): () => void {
  const runtime = readers.length === 0 ? [] : [new RuntimeNodeInstrumentation({ monitoringPrecision: EVENT_LOOP_PRECISION_MS })];
  const sdk = new NodeSDK({
    resource,
    autoDetectResources: false,
    spanProcessors: [],
    metricReaders: readers,
    logRecordProcessors: [],
    textMapPropagator: null,
    instrumentations: runtime,
  });
  diag.setLogger(
    { error: onExportError, warn: onExportError, info: () => {}, debug: () => {}, verbose: () => {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  sdk.start();
  return () => {
    for (const instrumentation of runtime) instrumentation.disable();
    for (const api of [trace, metrics, logs, context, propagation, diag]) api.disable();
  };
}

/** `service.name` and `service.version` on everything; an instance id beside them, or counters of several replicas would be taken for
 *  one; and what OTEL_RESOURCE_ATTRIBUTES adds. */
function resourceOf(config: OtelConfig, version: string): Resource {
  const given = resourceFromAttributes(envDetector.detect().attributes ?? {}).attributes;
  const clean = Object.entries(given).map(
    ([key, value]) => [key, typeof value === 'string' ? scrub(value).text : value] as const,
  );
  return resourceFromAttributes({
    'service.instance.id': randomUUID(),
    ...Object.fromEntries(clean),
    'service.name': scrub(config.service_name).text,
    'service.version': version,
  });
}

/** Scrapes that come at once share one reading. */
function createScrape(reader: ScrapeReader): (accept: string | undefined) => Promise<Scrape> {
  let reading: ReturnType<ScrapeReader['read']> | undefined;
  return async (accept) => {
    reading ??= reader.read().finally(() => (reading = undefined));
    return scrapeText(await reading, scrapeFormat(accept));
  };
}

function once(work: () => Promise<void> | undefined): () => Promise<void> {
  let ended: Promise<void> | undefined;
  return () => (ended ??= work() ?? Promise.resolve());
}
