import { context, diag, DiagLogLevel, logs, metrics, propagation, trace, type Exception, type Tracer } from '@opentelemetry/api';
import { loggingErrorHandler, setGlobalErrorHandler } from '@opentelemetry/core';
import { RuntimeNodeInstrumentation } from '@opentelemetry/instrumentation-runtime-node';
import { envDetector, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import { PeriodicExportingMetricReader, type IMetricReader, type MetricProducer } from '@opentelemetry/sdk-metrics';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { ParentBasedSampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { randomUUID } from 'node:crypto';
import { scrub } from '@vitrine/privacy/scrub';
import { readActiveSpanBy } from './active-span.ts';
import { telemetryParts, type OtelConfig } from './config/otel-config.ts';
import { signalExporter } from './config/otlp-endpoint.ts';
import { exportErrorLog } from './export/export-error-log.ts';
import { createMetricExporter, createSpanExporter } from './export/otlp-exporters.ts';
import { counter, ServiceMetrics } from './metrics/instrument.ts';
import { metricSources, type MetricSources, ScrapeReader } from './metrics/metric-data.ts';
import { scrapeFormat, scrapeText, type Scrape } from './metrics/scrape-text.ts';
import { BoundedSpanProcessor, type SpanCounts } from './spans/bounded-span-processor.ts';

/** How often the event loop's delay is measured. The default of 10 ms took 8 ms of CPU a second in an idle process. This value takes 1.5. */
const EVENT_LOOP_PRECISION_MS = 50;

/** Number of series of one instrument beyond which the SDK merges them. No SDK instrument should have this many. */
const CARDINALITY_LIMIT = 20_480;

type Report = (message: string) => void;

/** Running telemetry of a service. */
export interface Telemetry extends Disposable {
  /** Undefined when metrics are neither pushed nor scraped. */
  readonly metrics: ServiceMetrics | undefined;
  /** Undefined when spans are off. Then pass trace headers of clients on unchanged. */
  readonly tracer: Tracer | undefined;
  /** The text of a scrape in the format that `accept` prefers; undefined when the scrape is off. */
  readonly scrape: ((accept: string | undefined) => Promise<Scrape>) | undefined;
  readonly spanCounts: Readonly<SpanCounts>;
  /** Two steps of a shutdown. Each exports the remaining data and ends its part. The caller limits their time. Neither rejects. */
  flushSpans(): Promise<void>;
  flushMetrics(): Promise<void>;
}

export interface TelemetryOptions {
  readonly config: OtelConfig;
  /** Of the service. */
  readonly version: string;
  /** The instrumentation scope of its spans and metrics, such as `vitrine.orders`. */
  readonly scope: string;
  /** Begins the names of its metrics, without the dot: `svc` makes `svc.telemetry.spans_total`. */
  readonly metricPrefix: string;
  /** Called for failed exports, at once and then every minute at most. Failed exports have no other effect on the process. */
  readonly onExportError: Report;
}

/** Starts what `config` enables; undefined when it enables nothing. Import this module only when something is enabled: it loads the
 *  OpenTelemetry SDK
 *  (240 ms, 40 MB). One at a time in a process, because the SDK registers itself globally; disposal makes room for the next, and
 *  does not wait for what was not flushed before.
 *  Spec: G1.5, G14.4, G14.12 to G14.15. */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry | undefined> {
  const { config, version, scope } = options;
  const parts = telemetryParts(config);
  if (parts === undefined) return undefined;
  const spanCounts: SpanCounts = { exported: 0, failed: 0, dropped: 0 };
  const exportErrors = exportErrorLog(options.onExportError);
  const report = (message: string) => exportErrors.add('', message);
  // Before the exporters, which report the variables that they cannot use.
  diag.setLogger(
    { error: report, warn: report, info: () => {}, debug: () => {}, verbose: () => {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const resource = resourceOf(config, version);
  const spans = parts.spans
    ? new BoundedSpanProcessor(await createSpanExporter(config), signalExporter(config, 'traces').timeoutMs, spanCounts)
    : undefined;
  const sources = metricSources({ name: scope, version }, Date.now);
  const push = parts.push ? await pushReader(config, sources) : undefined;
  const scrapeReader = parts.scrape ? new ScrapeReader(CARDINALITY_LIMIT, sources) : undefined;
  const readers = [push, scrapeReader].filter((reader) => reader !== undefined);

  const unregister = register({ resource, readers, spans, samplingRatio: config.sampling_ratio, report });
  const hasMetrics = readers.length > 0;
  const reportFlush = (part: string) => (error: unknown) => report(`${part} could not be flushed: ${String(error)}`);
  // A second call would fail, because the part has ended.
  const flushSpans = once(() => spans?.shutdown().catch(reportFlush('spans')));
  const flushMetrics = once(() => push?.shutdown().catch(reportFlush('metrics')));
  return {
    metrics: hasMetrics ? createMetrics(options, sources, spanCounts) : undefined,
    tracer: spans && trace.getTracer(scope, version),
    scrape: scrapeReader && createScrape(scrapeReader),
    spanCounts,
    flushSpans,
    flushMetrics,
    [Symbol.dispose]: () => {
      for (const end of [flushSpans(), flushMetrics(), scrapeReader?.shutdown()]) end?.catch(reportFlush('telemetry'));
      unregister();
      exportErrors[Symbol.dispose]();
    },
  };
}

function createMetrics({ scope, version, metricPrefix }: TelemetryOptions, sources: MetricSources, counts: SpanCounts) {
  const created = new ServiceMetrics(metrics.getMeter(scope, version), (read) => sources.add(read));
  const spans = counter(
    `${metricPrefix}.telemetry.spans_total`,
    '{span}',
    'Sampled spans by outcome: exported, failed (not accepted by the collector), dropped (queue full).',
    ['result'],
  );
  created.observe({ spans }, () => ({
    spans: Object.entries(counts).map(([result, count]: [string, number]) => [{ result }, count]),
  }));
  return created;
}

async function pushReader(config: OtelConfig, producer: MetricProducer): Promise<IMetricReader> {
  return new PeriodicExportingMetricReader({
    exporter: await createMetricExporter(config),
    metricProducers: [producer],
    exportIntervalMillis: config.metric_export_interval_ms,
    // The reader rejects a timeout above its interval.
    exportTimeoutMillis: Math.min(signalExporter(config, 'metrics').timeoutMs, config.metric_export_interval_ms),
    cardinalityLimits: { default: CARDINALITY_LIMIT },
  });
}

interface Registration {
  readonly resource: Resource;
  readonly readers: IMetricReader[];
  readonly spans: BoundedSpanProcessor | undefined;
  readonly samplingRatio: number;
  readonly report: Report;
}

/** Starts the SDK with exactly these readers and this processor, and with the context manager that carries the ids of a request to its log
 *  lines. Everything is passed, because the SDK's own rules for OTEL_* variables are not the specification's. */
function register({ resource, readers, spans, samplingRatio, report }: Registration): () => void {
  const runtime = readers.length === 0 ? [] : [new RuntimeNodeInstrumentation({ monitoringPrecision: EVENT_LOOP_PRECISION_MS })];
  const sdk = new NodeSDK({
    resource,
    autoDetectResources: false,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(samplingRatio) }),
    spanProcessors: spans === undefined ? [] : [spans],
    metricReaders: readers,
    logRecordProcessors: [],
    textMapPropagator: null,
    instrumentations: runtime,
  });
  setGlobalErrorHandler((error) => report(messageOf(error)));
  sdk.start();
  const stopReading = readActiveSpanBy(() => trace.getSpanContext(context.active()));
  return () => {
    stopReading();
    setGlobalErrorHandler(loggingErrorHandler());
    for (const instrumentation of runtime) instrumentation.disable();
    for (const api of [trace, metrics, logs, context, propagation, diag]) api.disable();
  };
}

/** `service.name`, `service.version`, OTEL_RESOURCE_ATTRIBUTES, and an instance id, without which counters of several replicas would be treated as
 *  one. */
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

/** Concurrent scrapes share one reading. */
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

function messageOf(error: Exception): string {
  return typeof error === 'string' ? error : (error.message ?? error.name ?? 'unknown error');
}
