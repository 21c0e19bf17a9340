import { expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../running-process.ts';
import { describeWithPrograms } from '../programs.ts';
import { CHART, renderChart } from './render-chart.ts';

// Skaffold itself is not run: all references in its file are compared with their targets.

interface Skaffold {
  readonly apiVersion: string;
  readonly build: {
    readonly artifacts: readonly { readonly image: string; readonly docker: Record<'dockerfile' | 'target', string> }[];
  };
  readonly deploy: { readonly helm: { readonly releases: readonly [Release] } };
  readonly resourceSelector: { readonly allow: readonly { readonly groupKind: string }[] };
  readonly portForward: readonly { readonly resourceName: string; readonly port: number; readonly namespace: string }[];
  readonly profiles: readonly {
    readonly name: string;
    readonly patches: readonly { readonly path: string; readonly value: unknown }[];
  }[];
}
interface Release {
  readonly name: string;
  readonly chartPath: string;
  readonly namespace: string;
  readonly valuesFiles: readonly string[];
  readonly setValueTemplates: Readonly<Record<string, string>>;
}

const read = (file: string) => parse(readFileSync(join(ROOT, file), 'utf8')) as unknown;
const skaffold = read('skaffold.yaml') as Skaffold;
const [release] = skaffold.deploy.helm.releases;
const values = read('charts/vitrine/values.yaml') as Record<string, unknown>;
const dockerfile = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8');

/** Services have an entry point; the other stages only prepare files. */
const targets = [...dockerfile.matchAll(/^FROM service AS (\S+)$/gm)].map(([, target = '']) => target);
const valueAt = (path: string) =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], values);
const namesOf = (of: unknown, prefix = ''): string[] =>
  Object.entries((of ?? {}) as Record<string, unknown>).flatMap(([key, value]) =>
    typeof value === 'object' && !Array.isArray(value) ? namesOf(value, `${prefix}${key}.`) : [`${prefix}${key}`],
  );

test('every artifact is a target of the Dockerfile with the name that the chart gives it, and every image of the chart is built', () => {
  const built = skaffold.build.artifacts.map(({ image, docker }) => [image, docker.dockerfile, docker.target]);
  expect(built).toEqual(built.map(([image = '']) => [image, 'deploy/Dockerfile', image.replace('vitrine/', '')]));
  const names = built.map(([, , target]) => target);
  expect(names.filter((name) => !targets.includes(name ?? ''))).toEqual([]);
  const repositories = Object.keys(values).map((key) => valueAt(`${key}.image.repository`));
  expect(new Set(built.map(([image]) => image))).toEqual(new Set(repositories.filter((name) => typeof name === 'string')));
});

test('the README builds every image of the chart', () => {
  const [, loop = ''] = /^npm ci && for target in (.*); do$/m.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
  const repositories = Object.keys(values).map((key) => valueAt(`${key}.image.repository`));
  const named = new Set(repositories.filter((name) => typeof name === 'string'));
  expect(new Set(loop.split(' ').map((target) => `vitrine/${target}`))).toEqual(named);
});

test('repository and tag of every image are set from its artifact', () => {
  const expected = Object.keys(values).flatMap((key) => {
    const repository = valueAt(`${key}.image.repository`);
    if (typeof repository !== 'string') return [];
    const variable = repository.replaceAll(/[/.-]/g, '_');
    return [
      [`${key}.image.repository`, `{{.IMAGE_REPO_${variable}}}`],
      [`${key}.image.tag`, `{{.IMAGE_TAG_${variable}}}`],
    ];
  });
  expect(release.setValueTemplates).toEqual(Object.fromEntries(expected));
});

test('chart, values files and the kinds of the operator exist', () => {
  expect(join(ROOT, release.chartPath)).toBe(CHART);
  const files = skaffold.profiles.flatMap(({ patches }) =>
    patches.flatMap(({ path, value }) => (path.endsWith('Files') ? value : [])),
  );
  for (const file of [...release.valuesFiles, ...files] as string[]) expect(existsSync(join(ROOT, file))).toBe(true);
  const { annotations } = read('charts/vitrine/Chart.yaml') as { readonly annotations: Readonly<Record<string, string>> };
  const crds = parse(annotations['artifacthub.io/crds'] ?? '') as { readonly kind: string }[];
  expect(skaffold.resourceSelector.allow.map(({ groupKind }) => groupKind)).toEqual(
    crds.map(({ kind }) => `${kind}.vitrine.dev`),
  );
});

test('its profiles set values that the chart or the configuration of a service has', () => {
  expect(skaffold.profiles.map(({ name }) => name)).toEqual(['dev', 'kind', 'ci']);
  const set = skaffold.profiles.flatMap(({ patches }) =>
    patches.flatMap(({ path, value }) => (path.endsWith('/setValues') ? Object.keys(value as object) : [])),
  );
  expect(set).toEqual(['gateway.config.tracing.capture_bodies', 'image.pullPolicy']);
  for (const path of set.filter((name) => !name.includes('.config.'))) expect(valueAt(path)).toBeDefined();
});

test.each(['dev', 'ci', 'production'])('deploy/values/%s.yaml sets values that the chart has', (name) => {
  for (const path of namesOf(read(`deploy/values/${name}.yaml`))) expect([path, valueAt(path)]).not.toEqual([path, undefined]);
});

describeWithPrograms(['helm4'], 'what the chart renders for skaffold.yaml', () => {
  test('has the forwarded Services and ports', () => {
    const manifests = renderChart({ helm: 'helm4', values: read('deploy/values/dev.yaml') as object });
    for (const { resourceName, port, namespace } of skaffold.portForward) {
      expect(namespace).toBe(release.namespace);
      // The release of the tests has another name.
      const service = manifests.find(
        ({ kind, metadata }) => kind === 'Service' && metadata.name === resourceName.replace('vitrine', 'shop'),
      );
      expect(service?.spec).toMatchObject({ ports: [{ port }] });
    }
  });

  test.each(['ci', 'production'])('deploy/values/%s.yaml is accepted', (name) => {
    const own = read(`deploy/values/${name}.yaml`) as object;
    const dev = name === 'ci' ? (read('deploy/values/dev.yaml') as object) : {};
    expect(renderChart({ helm: 'helm4', values: { ...dev, ...own } }).length).toBeGreaterThan(10);
  });
});
