import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import { POOL_INSTRUMENTS, poolReadings } from '@vitrine/postgres/pool-instruments';
import type { OtelConfig } from '@vitrine/telemetry/config/otel-config';
import type { Logger } from '@vitrine/telemetry/logger';
import { startTelemetry, type Telemetry } from '@vitrine/telemetry/start-telemetry';
import { VERSION } from '../version.ts';
import { SCAN_GAUGES } from './instruments.ts';

export interface ScanFigures {
  readonly inFlight: number;
  readonly pools: Readonly<Record<string, PoolFigures>>;
}

/** Metrics and spans of scans; everything here does nothing when telemetry is off. */
export class ScanTelemetry implements Disposable {
  readonly scrape: Telemetry['scrape'];
  readonly #telemetry: Telemetry | undefined;

  private constructor(telemetry: Telemetry | undefined) {
    this.#telemetry = telemetry;
    this.scrape = telemetry?.scrape;
  }

  static async start(config: OtelConfig, logger: Logger): Promise<ScanTelemetry> {
    const next_step =
      'look at the collector and at the protocol of its port: docs/failure-modes.md#telemetry-that-does-not-arrive';
    const onExportError = (reason: string) => logger.warn({ reason, next_step }, 'telemetry export failed');
    const options = { config, version: VERSION, scope: 'vitrine.enrich-scan-queue', metricPrefix: 'scan', onExportError };
    return new ScanTelemetry(await startTelemetry(options));
  }

  /** From now on `read` gives the counters whenever metrics are collected. */
  observe(read: () => ScanFigures): void {
    const metrics = this.#telemetry?.metrics;
    metrics?.observe(POOL_INSTRUMENTS, () => poolReadings(read().pools));
    metrics?.observe(SCAN_GAUGES, () => ({ inFlight: read().inFlight }));
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
