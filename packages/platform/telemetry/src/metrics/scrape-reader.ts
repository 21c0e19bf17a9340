import { AggregationTemporality, MetricReader, type MetricProducer, type ResourceMetrics } from '@opentelemetry/sdk-metrics';

/** Reads the meter provider for a scrape. */
export class ScrapeReader extends MetricReader {
  /** `producer`: further metrics outside the meter provider. */
  constructor(cardinalityLimit: number, producer: MetricProducer) {
    super({
      metricProducers: [producer],
      aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE,
      cardinalitySelector: () => cardinalityLimit,
    });
  }

  /** The current values of the instruments. Failing callbacks are omitted. */
  async read(): Promise<ResourceMetrics> {
    const { resourceMetrics } = await this.collect();
    return resourceMetrics;
  }

  protected override async onForceFlush(): Promise<void> {}

  protected override async onShutdown(): Promise<void> {}
}
