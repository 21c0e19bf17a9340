import type { CollectedMetric, CollectedSpan } from './collected-telemetry.ts';
import { startTestCollector, type TestCollector } from './test-collector.ts';

interface RunningTelemetry extends Disposable {
  flushSpans(): Promise<void>;
  flushMetrics(): Promise<void>;
}

/** A collector for each test of a file, and the telemetry that the test exports to it. */
export class TelemetryFixture<Telemetry extends RunningTelemetry> {
  /** The collector of the current test. */
  readonly exportErrors: string[] = [];
  #collector: TestCollector | undefined;
  #running: Telemetry | undefined;

  get collector(): TestCollector {
    if (this.#collector === undefined) throw new Error('the fixture was not opened before this test');
    return this.#collector;
  }

  /** Call before each test. */
  async open(): Promise<void> {
    this.#collector = await startTestCollector();
    this.exportErrors.length = 0;
  }

  /** Call after each test. */
  async close(): Promise<void> {
    await Promise.all([this.#running?.flushSpans(), this.#running?.flushMetrics()]);
    this.#running?.[Symbol.dispose]();
    this.#running = undefined;
    await this.#collector?.[Symbol.asyncDispose]();
  }

  /** Waits until `telemetry` has started with all its parts. It ends with the test. `start` gets a callback that records failed exports. */
  async run(start: (onExportError: (message: string) => void) => Promise<Telemetry | undefined>): Promise<Required<Telemetry>> {
    this.#running = await start((message) => this.exportErrors.push(message));
    return this.#running as Required<Telemetry>;
  }

  endpointOf(protocol: string): string {
    return protocol === 'grpc' ? this.collector.grpcUrl : this.collector.url;
  }

  /** The only collected span of this name. */
  span(name: string): CollectedSpan {
    const [span, ...more] = this.collector.spans.filter((one) => one.name === name);
    if (span === undefined || more.length > 0)
      throw new Error(`${span === undefined ? 'no' : 'more than one'} span is named ${name}`);
    return span;
  }

  metric(name: string): CollectedMetric {
    return this.collector.metrics.find((one) => one.name === name) as CollectedMetric;
  }
}
