import { AggregationTemporality, MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';

/** Reads the meter provider when it is asked to: what a scrape is made of. */
export class ScrapeReader extends MetricReader {
  constructor(cardinalityLimit: number) {
    super({
      aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE,
      cardinalitySelector: () => cardinalityLimit,
    });
  }

  /** What the instruments hold now; callbacks that fail are left out. */
  async read(): Promise<ResourceMetrics> {
    const { resourceMetrics } = await this.collect();
    return resourceMetrics;
  }

  protected override async onForceFlush(): Promise<void> {}

  protected override async onShutdown(): Promise<void> {}
}
