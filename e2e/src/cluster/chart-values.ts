import { IMAGES } from '../images.ts';
import { postgresUser, type ServiceImages, type Target } from './cluster-images.ts';
import { providerUrls } from './provider.ts';

/** Where the values of each image are. */
const VALUES_OF: Readonly<Record<Target, string>> = {
  gateway: 'gateway',
  'trace-writer': 'traceWriter',
  'store-api': 'storeApi',
  'enrich-scan-queue': 'enrichScanQueue',
  operator: 'operator',
  migrations: 'migrations',
};

type Values = Readonly<Record<string, object>>;

/** Values that every release of the tests has: its images, and the mock providers of a namespace. */
export function baseValues(images: ServiceImages, providerNamespace: string): Values {
  const { openai, anthropic } = providerUrls(providerNamespace);
  const providers = { openai: { upstream: openai }, anthropic: { upstream: anthropic } };
  return withImages({ gateway: { config: { providers } } }, images);
}

function withImages(values: Values, images: ServiceImages): Values {
  const changed: Record<string, object> = { ...values };
  for (const [target, name] of Object.entries(images) as [Target, string][]) {
    const [repository, tag] = name.split(':');
    changed[VALUES_OF[target]] = { ...values[VALUES_OF[target]], image: { repository, tag } };
  }
  return changed;
}

/** Postgres and Kafka of the chart. */
export async function devValues(): Promise<object> {
  return {
    dev: { enabled: true, postgres: { image: IMAGES.postgres, userId: await postgresUser() }, kafka: { image: IMAGES.kafka } },
  };
}
