import { AggregationTemporality, MetricReader, type MetricProducer, type ResourceMetrics } from '@opentelemetry/sdk-metrics';

/** Reads the meter provider for a scrape. */
export class ScrapeReader extends MetricReader {
  /** `producer`: metrics beside those of the meter provider. */
  constructor(cardinalityLimit: number, producer: MetricProducer) {
    super({
      metricProducers: [producer],
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
