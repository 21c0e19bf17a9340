import type { Tracer } from '@opentelemetry/api';
import type { OtelConfig } from './config/otel-config.ts';
import type { Logger } from './logger.ts';
import type { ServiceMetrics } from './metrics/instrument.ts';
import { startTelemetry, type Telemetry } from './start-telemetry.ts';

const AFTER_EXPORT_ERROR =
  'look at the collector and at the protocol of its port: docs/failure-modes.md#telemetry-that-does-not-arrive';

interface ServiceTelemetryOptions {
  readonly config: OtelConfig;
  readonly version: string;
  /** Such as `trace-writer`, of the scope `vitrine.trace-writer`. */
  readonly name: string;
  readonly metricPrefix?: string;
  readonly logger: Logger;
}

/** `startTelemetry` with failed exports logged. */
export function startServiceTelemetry(options: ServiceTelemetryOptions): Promise<Telemetry | undefined> {
  const { config, version, name, metricPrefix = 'svc', logger } = options;
  const onExportError = (reason: string) => logger.warn({ reason, next_step: AFTER_EXPORT_ERROR }, 'telemetry export failed');
  return startTelemetry({ config, version, scope: `vitrine.${name}`, metricPrefix, onExportError });
}

/** Base of a service's telemetry. Does nothing when telemetry is off. */
export class ServiceTelemetry implements Disposable {
  readonly scrape: Telemetry['scrape'];
  /** For further metrics of the service. */
  readonly metrics: ServiceMetrics | undefined;
  protected readonly tracer: Tracer | undefined;
  readonly #telemetry: Telemetry | undefined;

  protected constructor(telemetry: Telemetry | undefined) {
    this.scrape = telemetry?.scrape;
    this.metrics = telemetry?.metrics;
    this.tracer = telemetry?.tracer;
    this.#telemetry = telemetry;
  }

  async flushSpans(): Promise<void> {
    await this.#telemetry?.flushSpans();
  }

  async flushMetrics(): Promise<void> {
    await this.#telemetry?.flushMetrics();
  }

  [Symbol.dispose](): void {
    this.#telemetry?.[Symbol.dispose]();
  }
}
