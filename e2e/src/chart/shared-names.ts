import { SCAN_TOPICS } from '@vitrine/stores/scans/queue-scans';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../running-process.ts';
import { CHART } from './render-chart.ts';

/** Names that services, chart, examples and alerts share; the key is a component of the chart. */
export interface SharedNames {
  readonly topics: readonly string[];
  /** `queue.group` of the services that consume. */
  readonly groups: Readonly<Record<string, string>>;
  /** Groups that consumers join, by topic. */
  readonly consumers: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Roles of the database. */
  readonly roles: Readonly<Record<string, string>>;
  /** Of the HTTP servers. */
  readonly ports: Readonly<Record<string, number>>;
}

export const NAMES_FILE = join(CHART, 'files/names.yaml');
export const COMPONENTS = ['gateway', 'trace-writer', 'store-api', 'enrich-scan-queue', 'operator'] as const;
export type Component = (typeof COMPONENTS)[number];

/** What the file has: the names, and how many connections to Postgres a process of each component may open. */
export interface NamesFile extends SharedNames {
  readonly connections: Readonly<Record<Component, number>>;
  /** Keys of `storage` that change the number, with their defaults. */
  readonly connection_keys: Readonly<Partial<Record<Component, Readonly<Record<string, number>>>>>;
}

export const readNames = () => parse(readFileSync(NAMES_FILE, 'utf8')) as NamesFile;

/** The names as the sources of the services have them. */
export function namesInSources(): SharedNames {
  const topic = inConfig('trace-writer', /kafkaKeys\('(.+)'\)/);
  const scanGroup = inConfig('enrich-scan-queue', /group: .*default\('(.+)'\)/);
  const writerGroup = inConfig('trace-writer', /group: .*default\('(.+)'\)/);
  const scans = Object.entries(SCAN_TOPICS).map(([cause, name]) => [name, `${scanGroup}-${cause}`]);
  return {
    topics: [topic, ...Object.values(SCAN_TOPICS)],
    groups: { 'trace-writer': writerGroup, 'enrich-scan-queue': scanGroup },
    consumers: {
      'trace-writer': { [topic]: writerGroup },
      'enrich-scan-queue': Object.fromEntries(scans) as Record<string, string>,
    },
    roles: Object.fromEntries([...COMPONENTS, 'migrations'].map((component) => [component, roleOf(component)])),
    ports: Object.fromEntries(
      COMPONENTS.map((component) => [component, Number(inConfig(component, /(?:clientServer|listen)Keys\((\d+)/))]),
    ),
  };
}

/** The keys of `storage` that set the size of a pool, with their defaults. */
export function connectionKeys(component: Component): Record<string, number> {
  const found = configOf(component).matchAll(/^ {6}(\w*connections): z\.int\(\).*default\((\d+)\)/gm);
  return Object.fromEntries([...found].map(([, name = '', value]) => [name, Number(value)]));
}

function configOf(component: Component): string {
  return readFileSync(join(ROOT, component === 'operator' ? component : `services/${component}`, 'src/config.ts'), 'utf8');
}

function inConfig(component: Component, pattern: RegExp): string {
  const [, found] = pattern.exec(configOf(component)) ?? [];
  if (found === undefined) throw new Error(`config.ts of ${component} has no ${pattern}`);
  return found;
}

/** A role is named after its component, or after the first words of it. */
function roleOf(component: string): string {
  const folder = join(ROOT, 'migrations/sql');
  const lists = readdirSync(folder).flatMap(
    (file) => readFileSync(join(folder, file), 'utf8').match(/IN ARRAY ARRAY\[.*\]/g) ?? [],
  );
  const roles = lists.flatMap((list) => list.match(/vitrine_\w+/g) ?? []);
  const role = roles.find((name) => `vitrine_${component.replaceAll('-', '_')}`.startsWith(name));
  if (role === undefined) throw new Error(`migrations/sql makes no role for ${component}, but ${roles.join(', ')}`);
  return role;
}
