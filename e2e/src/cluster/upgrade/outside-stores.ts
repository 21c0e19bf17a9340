import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../../running-process.ts';
import { devValues } from '../chart-values.ts';
import { Helm } from '../helm.ts';
import type { Kubectl } from '../kubectl.ts';

const READY_TIMEOUT_MS = 180_000;
const NAME = 'stores';
/** Names of their Deployments and Services. */
export const STORES = { postgres: `${NAME}-dev-postgres`, kafka: `${NAME}-dev-kafka` };
/** Helm 3 does not query the cluster. */
const KUBE_VERSION = '--kube-version=1.30.0';
const TEMPLATES = ['templates/dev-postgres.yaml', 'templates/dev-kafka.yaml'];

/** Postgres and Kafka that no release owns, so that an upgrade does not change them. */
export interface OutsideStores {
  /** `host:port` */
  readonly brokers: string;
  /** A Secret for a release: DSNs by `dsn-USER`. */
  readonly secret: object;
  /** The rows of a statement, a line each. */
  query(sql: string): Promise<readonly string[]>;
}

/** Starts the chart's development servers, in the namespace of `kubectl`. `secretName`: of the Secret to make of `secret`. */
export async function startOutsideStores(program: string, kubectl: Kubectl, secretName: string): Promise<OutsideStores> {
  const values = { fullnameOverride: NAME, networkPolicy: { enabled: false }, ...(await devValues()) };
  const shown = TEMPLATES.map((template) => `--show-only=${template}`);
  const chart = join(ROOT, 'charts/vitrine');
  const rendered = await new Helm(program, kubectl).run(['template', NAME, chart, KUBE_VERSION, '--values=-', ...shown], {
    input: JSON.stringify(values),
  });
  await kubectl.apply(...parseAllDocuments(rendered).map((document) => document.toJS() as object));
  for (const store of Object.values(STORES)) await kubectl.rollout(`deployment/${store}`, READY_TIMEOUT_MS);
  const { data } = await kubectl.get<{ readonly data: object }>('secret', STORES.postgres);
  return {
    brokers: `${STORES.kafka}.${kubectl.namespace}.svc:9092`,
    secret: { apiVersion: 'v1', kind: 'Secret', metadata: { name: secretName }, data },
    async query(sql) {
      const psql = ['psql', '--username=migrations', '--dbname=vitrine', '--no-align', '--tuples-only', '--command', sql];
      const rows = await kubectl.exec(`deployment/${STORES.postgres}`, psql);
      return rows.split('\n').filter(Boolean);
    },
  };
}
