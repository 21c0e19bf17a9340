import { ExportResultCode } from '@opentelemetry/core';
import { OTLPMetricExporterBase } from '@opentelemetry/exporter-metrics-otlp-http';
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import { MetricsExporterMetricsHelper, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { MAX_EXPORTS_AT_ONCE } from '../spans/batched-span-sink.ts';
import { withExemplars } from '../metrics/exemplar-serializers.ts';
import type { OtelConfig } from '../config/otel-config.ts';
import { exportUrl } from '../config/otlp-endpoint.ts';
import type { PackedSpans } from '../spans/packed-span-sink.ts';

// Headers, certificates and compression are not the specification's; the exporters take them from OTEL_EXPORTER_OTLP_HEADERS,
// _CERTIFICATE, _CLIENT_KEY, _CLIENT_CERTIFICATE and _COMPRESSION themselves. gRPC is loaded only when it is configured.

/** Sends packed spans over HTTP. Rejects for what the collector did not take, also after the retries that fit into the timeout. */
export function createSpanSender(config: OtelConfig): (spans: PackedSpans) => Promise<void> {
  const options = { url: exportUrl(config, 'traces'), timeoutMillis: config.export_timeout_ms };
  const delegate = createOtlpHttpExportDelegate<PackedSpans, ReturnType<typeof ProtobufTraceSerializer.deserializeResponse>>(
    convertLegacyHttpOptions(options, 'TRACES', 'v1/traces', { 'Content-Type': 'application/x-protobuf' }),
    { ...ProtobufTraceSerializer, serializeRequest: ({ bytes }) => bytes },
    'otlp_http_span_exporter',
    { name: 'span', countItems: ({ count }) => count },
    undefined,
  );
  return async (spans) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    delegate.export(spans, ({ code, error }) => {
      if (code === ExportResultCode.SUCCESS) resolve();
      else reject(error ?? new Error('the collector refused'));
    });
    await promise;
  };
}

/** The SDK's exporter of spans, for JSON and gRPC. */
export async function createSpanExporter(config: OtelConfig): Promise<SpanExporter> {
  const options = {
    url: exportUrl(config, 'traces'),
    timeoutMillis: config.export_timeout_ms,
    concurrencyLimit: MAX_EXPORTS_AT_ONCE,
  };
  if (config.protocol === 'grpc') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc');
    return new OTLPTraceExporter(options);
  }
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  return new OTLPTraceExporter(options);
}

/** Sends metrics to the collector in the configured protocol, with exemplars. */
export async function createMetricExporter(config: OtelConfig): Promise<PushMetricExporter> {
  const options = { url: exportUrl(config, 'metrics'), timeoutMillis: config.export_timeout_ms, concurrencyLimit: 1 };
  if (config.protocol === 'grpc') {
    const grpc = await import('@opentelemetry/otlp-grpc-exporter-base');
    return new OTLPMetricExporterBase(
      grpc.createOtlpGrpcExportDelegate(
        grpc.convertLegacyOtlpGrpcOptions(options, 'METRICS'),
        withExemplars('protobuf'),
        'otlp_grpc_metric_exporter',
        MetricsExporterMetricsHelper,
        undefined,
        'MetricsExportService',
        '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
      ),
    );
  }
  const encoding = config.protocol === 'http/json' ? 'json' : 'protobuf';
  const contentType = { 'Content-Type': encoding === 'json' ? 'application/json' : 'application/x-protobuf' };
  return new OTLPMetricExporterBase(
    createOtlpHttpExportDelegate(
      convertLegacyHttpOptions(options, 'METRICS', 'v1/metrics', contentType),
      withExemplars(encoding),
      'otlp_http_metric_exporter',
      MetricsExporterMetricsHelper,
      undefined,
    ),
  );
}
