import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../running-process.ts';
import { describeWithPrograms } from '../programs.ts';
import { CHART, renderChart, type Manifest } from './render-chart.ts';
import { readNames, type Component } from './shared-names.ts';

const names = readNames();
const GROUPS = Object.values(names.consumers).flatMap((byTopic) => Object.values(byTopic));
const TOPICS = names.topics.flatMap((topic) => [topic, `${topic}.dlq`]);
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const documentsIn = (file: string) => parseAllDocuments(textOf(file)).map((document) => document.toJS() as Manifest);
/** Files below a folder, and the file itself. */
const filesOf = (path: string): string[] =>
  path.includes('.')
    ? [path]
    : readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' }).map((file) => join(path, file));

interface Acl {
  readonly resource: { readonly type: string; readonly name: string };
}

describe('names that services have', () => {
  test('are those that the example of Strimzi creates and permits', () => {
    const documents = documentsIn('deploy/examples/strimzi.yaml');
    const topics = documents.filter(({ kind }) => kind === 'KafkaTopic').map(({ metadata }) => metadata.name);
    expect(topics.toSorted()).toEqual(TOPICS.toSorted());
    const user = documents.find(({ kind }) => kind === 'KafkaUser') as
      | { spec: { authorization: { acls: readonly Acl[] } } }
      | undefined;
    const acls = user?.spec.authorization.acls ?? [];
    const named = (wanted: string) => acls.flatMap(({ resource: { type, name } }) => (type === wanted ? [name] : []));
    expect(named('group').toSorted()).toEqual(GROUPS.toSorted());
    expect(TOPICS.filter((topic) => !named('topic').some((prefix) => topic.startsWith(prefix)))).toEqual([]);
  });

  test('are the roles that the example of CloudNativePG creates and grants to users', () => {
    const [cluster] = documentsIn('deploy/examples/cloudnative-pg.yaml') as unknown as {
      spec: {
        bootstrap: { initdb: { postInitApplicationSQL: readonly string[] } };
        managed: { roles: readonly { name: string; inRoles: readonly string[]; passwordSecret: { name: string } }[] };
      };
    }[];
    const made = cluster?.spec.bootstrap.initdb.postInitApplicationSQL.flatMap(
      (sql) => /^CREATE ROLE (\w+)/.exec(sql)?.[1] ?? [],
    );
    expect(made?.toSorted()).toEqual(Object.values(names.roles).toSorted());
    const { migrations: _owner, ...services } = names.roles;
    const users = cluster?.spec.managed.roles.map(({ name, inRoles, passwordSecret }) => [passwordSecret.name, name, ...inRoles]);
    expect(new Set(users)).toEqual(
      new Set(
        Object.entries(services).map(([component, role]) => [`vitrine-db-${component}`, component.replaceAll('-', '_'), role]),
      ),
    );
  });

  test('are the defaults of the chart', () => {
    const { kafka } = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as { kafka: { topic: string; group: string } };
    expect(names.consumers['trace-writer']).toEqual({ [kafka.topic]: kafka.group });
  });

  test.each(['charts', 'deploy', 'docs', 'README.md', 'ARCHITECTURE.md', 'skaffold.yaml'])(
    'are the only ones that %s has',
    (path) => {
      const files = filesOf(path).filter((file) => /\.(?:ya?ml|md|tpl|txt|json)$/.test(file));
      const known = new Set([...TOPICS, ...GROUPS, ...Object.values(names.groups)]);
      const unknown = files.flatMap((file) => {
        const found = textOf(file).match(/\bvitrine\.(?:traces|scans)[\w.]*\w|(?<=group[ :="]+)vitrine-[a-z-]+[a-z]/g) ?? [];
        return found.filter((name) => !known.has(name) && name !== 'vitrine.scans').map((name) => `${file}: ${name}`);
      });
      expect(unknown).toEqual([]);
    },
  );
});

describeWithPrograms(['helm4'], 'rendered with values of deploy', () => {
  const valuesOf = (file: string) => parse(textOf(`deploy/values/${file}`)) as Values;
  const render = (values: object) => renderChart({ helm: 'helm4', values, apiVersions: ['keda.sh/v1alpha1'] });
  const production = valuesOf('production.yaml');

  test('the chart opens exactly the ports of the services', () => {
    const ports = render(production)
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ metadata, spec }) => {
        const { containers } = (
          spec as { template: { spec: { containers: { ports: { name: string; containerPort: number }[] }[] } } }
        ).template.spec;
        const http = containers[0]?.ports.find(({ name }) => name === 'http')?.containerPort;
        return [metadata.labels?.['app.kubernetes.io/component'], http];
      })
      .filter(([, port]) => port !== undefined);
    expect(Object.fromEntries(ports)).toEqual(names.ports);
  });

  test('KEDA scales by the groups that consumers join', () => {
    const triggers = render(production)
      .filter(({ kind }) => kind === 'ScaledObject')
      .flatMap(({ spec }) => (spec as { triggers: { metadata: { topic: string; consumerGroup: string } }[] }).triggers);
    expect(Object.fromEntries(triggers.map(({ metadata: { topic, consumerGroup } }) => [topic, consumerGroup]))).toEqual(
      Object.assign({}, ...Object.values(names.consumers)),
    );
  });

  /** Replicas at their maximum, by component, as the rendered objects have them. */
  function maximaOf(values: object): Map<string, number> {
    const maxima = new Map<string, number>();
    for (const { kind, metadata, spec } of render(values)) {
      const { replicas, maxReplicas, maxReplicaCount } = (spec ?? {}) as Readonly<Record<string, number>>;
      if (!['Deployment', 'HorizontalPodAutoscaler', 'ScaledObject'].includes(kind)) continue;
      const component = metadata.labels?.['app.kubernetes.io/component'] ?? '';
      maxima.set(component, Math.max(maxima.get(component) ?? 0, maxReplicaCount ?? maxReplicas ?? replicas ?? 0));
    }
    return maxima;
  }

  test.each(['production.yaml', 'dev.yaml', 'dev.yaml ci.yaml'])(
    '%s: all pods at their maxima find a connection, and one less than they need is refused',
    (files) => {
      const values = files
        .split(' ')
        .map(valuesOf)
        .reduce<Values>((all, next) => mergeValues(all, next), {});
      const components = [...maximaOf(values)].filter(([component]) => component in names.connections);
      expect(components).toHaveLength(Object.keys(names.connections).length);
      // One more pod of each during its replacement, two of migrations, and ten for others.
      const sum = components.reduce((total, [name, pods]) => total + (pods + 1) * names.connections[name as Component], 2 + 10);
      const isDev = 'dev' in values;
      const limitedTo = (maxConnections: number) =>
        mergeValues(values, isDev ? { dev: { postgres: { maxConnections } } } : { database: { maxConnections } });
      expect(render(limitedTo(sum)).length).toBeGreaterThan(0);
      expect(() => render(limitedTo(sum - 1))).toThrow(
        `${isDev ? 'dev.postgres' : 'database'}.maxConnections: all pods at their maxima may open ${sum - 10} connections`,
      );
    },
  );

  test('the database of the production example has the connections that its values count with', () => {
    const [cluster] = documentsIn('deploy/examples/cloudnative-pg.yaml') as unknown as {
      spec: { postgresql: { parameters: { max_connections: string } } };
    }[];
    expect(production['database']).toMatchObject({ maxConnections: Number(cluster?.spec.postgresql.parameters.max_connections) });
  });

  test('connections that the configuration of the store API adds are counted', () => {
    const openedWith = (values: object) => {
      const tooFew = mergeValues(values, { database: { maxConnections: 11 } });
      try {
        render(tooFew);
      } catch (error) {
        return Number(/may open (\d+) connections/.exec(String(error))?.[1]);
      }
      return 0;
    };
    const added = 80;
    const connections = (names.connection_keys?.['store-api']?.['connections'] ?? 0) + added;
    const more = mergeValues(production, { storeApi: { config: { storage: { connections } } } });
    const pods = maximaOf(production).get('store-api') ?? 0;
    expect(openedWith(more)).toBe(openedWith(production) + added * (pods + 1));
  });
});

type Values = Record<string, unknown>;

/** As Helm merges values files. */
function mergeValues(base: object, over: object): Values {
  const merged: Values = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = merged[key];
    merged[key] = isMap(old) && isMap(value) ? mergeValues(old, value) : value;
  }
  return merged;
}

const isMap = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);
