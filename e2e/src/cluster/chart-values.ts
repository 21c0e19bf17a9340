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

/** The Secret of a release's namespace with the DSNs of stores that no release owns. */
export const STORES_SECRET = 'stores';

/** Values that every release of the tests has: its images, and the mock providers of a namespace. */
export function baseValues(images: ServiceImages, providerNamespace: string): Record<string, object> {
  const { openai, anthropic } = providerUrls(providerNamespace);
  const providers = { openai: { upstream: openai }, anthropic: { upstream: anthropic } };
  return withImages({ gateway: { config: { providers } } }, images);
}

function withImages(values: Values, images: ServiceImages): Record<string, object> {
  const changed: Record<string, object> = { ...values };
  for (const [target, name] of Object.entries(images) as [Target, string][]) {
    const [repository, tag] = name.split(':');
    changed[VALUES_OF[target]] = { ...values[VALUES_OF[target]], image: { repository, tag } };
  }
  return changed;
}

const database = (user: string) => ({ database: { existingSecret: STORES_SECRET, key: `dsn-${user}` } });

/** Values over Postgres and Kafka that no release owns, with a user for each service. */
export function withOutsideStores(values: Values, brokers: string): Record<string, object> {
  const changed: Record<string, object> = { ...values, ...database('migrations'), kafka: { bootstrapServers: brokers } };
  for (const [target, name] of Object.entries(VALUES_OF))
    if (target !== 'migrations') changed[name] = { ...values[name], ...database(target) };
  return changed;
}

/** Postgres and Kafka of the chart. */
export async function devValues(): Promise<object> {
  return {
    dev: { enabled: true, postgres: { image: IMAGES.postgres, userId: await postgresUser() }, kafka: { image: IMAGES.kafka } },
  };
}
