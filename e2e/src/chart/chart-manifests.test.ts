import { beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { ROOT } from '../running-process.ts';
import { CHART_CASES, OWN_SERVERS } from './chart-cases.ts';
import { describeWithPrograms, runProgram } from '../programs.ts';
import {
  HELMS,
  lintChart,
  NAMESPACE,
  RELEASE,
  renderChart,
  renderText,
  type Manifest,
  type RenderOptions,
} from './render-chart.ts';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly resources: Readonly<Record<'requests' | 'limits', Record<string, string>>>;
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
interface PodSpec {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly [Container, ...Container[]];
  readonly volumes: readonly {
    readonly name: string;
    readonly configMap?: unknown;
    readonly emptyDir?: { readonly sizeLimit: string };
  }[];
}
interface WorkloadSpec {
  readonly replicas?: number;
  readonly template: { readonly metadata: Manifest['metadata']; readonly spec: PodSpec };
  readonly activeDeadlineSeconds?: number;
  readonly backoffLimit?: number;
}

const isDev = ({ metadata }: Manifest) => metadata.name.includes('-dev-');
const named = (manifests: readonly Manifest[], kind: string, suffix: string) =>
  manifests.find(({ kind: other, metadata }) => other === kind && metadata.name.endsWith(suffix));
const specOf = (manifests: readonly Manifest[], kind: string, suffix: string): unknown => {
  const found = named(manifests, kind, suffix);
  if (found === undefined)
    throw new Error(`no ${kind} ${suffix} among ${manifests.map(({ metadata }) => metadata.name).join(' ')}`);
  return found.spec;
};
const podOf = (manifests: readonly Manifest[], suffix: string, kind = 'Deployment') =>
  (specOf(manifests, kind, suffix) as WorkloadSpec).template.spec;
const podsOf = (manifests: readonly Manifest[]): { readonly of: Manifest; readonly pod: PodSpec }[] =>
  manifests.flatMap((of) => {
    if (of.kind === 'Pod') return [{ of, pod: of.spec as PodSpec }];
    return ['Deployment', 'Job'].includes(of.kind) ? [{ of, pod: (of.spec as WorkloadSpec).template.spec }] : [];
  });
const variablesOf = (pod: PodSpec) => Object.fromEntries(pod.containers[0].env.map(({ name, ...rest }) => [name, rest]));
/** Without values that differ in each rendering: generated passwords. */
const comparable = (manifests: readonly Manifest[]) => manifests.filter(({ kind }) => kind !== 'Secret');

describeWithPrograms([...HELMS, 'kube-score'], 'the chart', () => {
  test.each(HELMS)('%s lint --strict has no findings', (helm) => {
    expect(lintChart(helm)).toContain('0 chart(s) failed');
  });

  const apiVersions = ['monitoring.coreos.com/v1', 'keda.sh/v1alpha1'];
  const rendered = new Map<string, readonly Manifest[]>();
  beforeAll(() => {
    for (const [name, values] of Object.entries(CHART_CASES))
      rendered.set(name, renderChart({ helm: 'helm4', values, apiVersions }));
  });
  const manifestsOf = (name: string) => rendered.get(name) ?? [];
  const render = (values: object, options: Partial<RenderOptions> = {}) =>
    renderChart({ helm: 'helm4', values: { ...OWN_SERVERS, ...values }, ...options });

  test.each(Object.keys(CHART_CASES))('%s: both Helms render the same', (name) => {
    const other = renderChart({ helm: 'helm3', values: CHART_CASES[name] ?? {}, apiVersions });
    expect(comparable(other)).toEqual(comparable(manifestsOf(name)));
  });

  test.each(Object.keys(CHART_CASES))('%s: names are unique and short enough, and labels are complete', (name) => {
    const manifests = manifestsOf(name).filter(({ kind }) => kind !== 'CustomResourceDefinition');
    const keys = manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.filter((key) => (key.split(' ').at(-1)?.length ?? 0) > 63)).toEqual([]);
    for (const { metadata } of manifests)
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'vitrine', 'app.kubernetes.io/instance': RELEASE });
  });

  test.each(Object.keys(CHART_CASES))('%s: every pod meets the restricted level and has resource limits', (name) => {
    for (const { of, pod } of podsOf(manifestsOf(name))) {
      expect(pod).toMatchObject({
        enableServiceLinks: false,
        automountServiceAccountToken: pod.serviceAccountName !== undefined,
      });
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      for (const { image, securityContext, resources } of pod.containers) {
        expect(securityContext).toMatchObject({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
        expect(Object.keys(resources.limits)).toEqual(expect.arrayContaining(['cpu', 'memory']));
        expect(image).toMatch(/:[\w][\w.-]*$/);
        if (isDev(of)) continue;
        expect(securityContext).toHaveProperty('readOnlyRootFilesystem', true);
        expect(resources.limits).toHaveProperty('ephemeral-storage');
      }
    }
  });

  test.each(Object.keys(CHART_CASES))(
    '%s: every pod has a NetworkPolicy for both directions, unless they are disabled',
    (name) => {
      const manifests = manifestsOf(name);
      const componentOf = (labels: Manifest['metadata']['labels']) => labels?.['app.kubernetes.io/component'];
      const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
      if (name === 'as little as possible') return expect(policies).toEqual([]);
      for (const { of } of podsOf(manifests)) {
        const policy = policies.find(({ metadata }) => componentOf(metadata.labels) === componentOf(of.metadata.labels));
        expect(policy?.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
      }
    },
  );

  test.each(Object.keys(CHART_CASES))('%s: only the operator has a token of the API server', (name) => {
    const withToken = podsOf(manifestsOf(name)).filter(({ pod }) => pod.automountServiceAccountToken);
    const expected = name === 'as little as possible' ? [] : ['operator'];
    expect(withToken.map(({ of }) => of.metadata.labels?.['app.kubernetes.io/component'])).toEqual(expected);
  });

  test.each([
    ['gateway', 'services/gateway/src/app.ts'],
    ['trace-writer', 'services/trace-writer/src/app.ts'],
    ['store-api', 'services/store-api/src/app.ts'],
    ['enrich-scan-queue', 'services/enrich-scan-queue/src/app.ts'],
    ['operator', 'operator/src/app.ts'],
  ])('the grace period of %s fits the shutdown steps of its app.ts, 5 s each, and the wait before them', (component, file) => {
    const steps = readFileSync(join(ROOT, file), 'utf8').match(/^ *stop\('/gm)?.length ?? 0;
    const pod = podOf(manifestsOf('servers of one’s own'), `-${component}`);
    const wait = pod.containers[0].lifecycle?.preStop.sleep.seconds ?? 0;
    expect(steps).toBeGreaterThan(0);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Math.max(steps * 5, 20) + wait);
    expect(wait).toBe(['gateway', 'store-api'].includes(component) ? 5 : 0);
  });

  test('the settings of a gateway are complete: store, broker, peppers, shared counters, and writable folders', () => {
    const pod = podOf(manifestsOf('servers of one’s own'), '-gateway');
    expect(variablesOf(pod)).toMatchObject({
      SVC_CONFIG: { value: '/etc/vitrine/config/config.yaml' },
      SVC_STORAGE_DRIVER: { value: 'postgres' },
      SVC_STORAGE_DSN: { valueFrom: { secretKeyRef: { name: 'postgres', key: 'dsn' } } },
      SVC_QUEUE_DRIVER: { value: 'kafka' },
      SVC_QUEUE_BROKERS: { value: 'kafka-1:9092,kafka-2:9094' },
      SVC_QUEUE_SPOOL_MAX_BYTES: { value: '1073741824' },
      SVC_AUTH_ENABLED: { value: 'true' },
      SVC_AUTH_PEPPERS: { valueFrom: { secretKeyRef: { name: 'shop-pepper', key: 'peppers' } } },
      SVC_LIMITS_COUNTERS: { value: 'shared' },
      SVC_LIMITS_PLANS_DIR: { value: '/etc/vitrine/plans' },
    });
    expect(pod.volumes).toContainEqual({ name: 'data', emptyDir: { sizeLimit: '1126Mi' } });
    expect(pod.volumes).toContainEqual({ name: 'plans', configMap: { name: 'shop-plans', optional: true } });
    expect(pod.containers[0].volumeMounts).toContainEqual({ name: 'plans', mountPath: '/etc/vitrine/plans', readOnly: true });
    expect(pod.containers[0].resources.limits).toHaveProperty('ephemeral-storage', '1382Mi');
  });

  test('the ConfigMap of plans is left to the operator', () => {
    expect(named(manifestsOf('servers of one’s own'), 'ConfigMap', '-plans')).toBeUndefined();
  });

  test('PlanLimits are refused in namespaces without the service account of an operator, unless policies are managed elsewhere', () => {
    const policiesOf = (name: string) => manifestsOf(name).filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy'));
    const [policy, binding] = policiesOf('servers of one’s own').toSorted((a, b) => a.kind.length - b.kind.length);
    const account = named(manifestsOf('servers of one’s own'), 'ServiceAccount', '-operator');
    expect(policy).toMatchObject({ spec: { paramKind: { kind: 'ServiceAccount' }, failurePolicy: 'Fail' } });
    const { selector } = (binding as unknown as { spec: { paramRef: { selector: { matchLabels: object } } } }).spec.paramRef;
    expect(account?.metadata.labels).toMatchObject(selector.matchLabels);
    expect(policiesOf('as little as possible')).toEqual([]);
  });

  test('the operator has the names of the plans that the gateways are configured with', () => {
    const operatorOf = (name: string) => variablesOf(podOf(manifestsOf(name), '-operator'));
    expect(operatorOf('own images, labels and places')).toMatchObject({ OPERATOR_PLANS_CONFIGURED: { value: 'gold,silver' } });
    expect(operatorOf('servers of one’s own')).not.toHaveProperty('OPERATOR_PLANS_CONFIGURED');
  });

  test('a service has the DSN of its own Secret, else of the common one, else of the database of the chart', () => {
    const dsnOf = (name: string, suffix: string, variable: string, kind?: string) =>
      variablesOf(podOf(manifestsOf(name), suffix, kind))[variable]?.valueFrom;
    const own = 'a database user for each service';
    expect(dsnOf(own, '-gateway', 'SVC_STORAGE_DSN')).toEqual({ secretKeyRef: { name: 'gateway-user', key: 'uri' } });
    expect(dsnOf(own, '-trace-writer', 'WRITER_STORAGE_DSN')).toEqual({ secretKeyRef: { name: 'writer-user', key: 'dsn' } });
    const dev = { name: 'shop-dev-postgres' };
    expect(dsnOf('servers of the chart', '-gateway', 'SVC_STORAGE_DSN')).toEqual({
      secretKeyRef: { ...dev, key: 'dsn-gateway' },
    });
    expect(dsnOf('servers of the chart', '-operator', 'OPERATOR_STORAGE_DSN')).toMatchObject({
      secretKeyRef: { ...dev, key: 'dsn-operator' },
    });
  });

  test('TLS and SCRAM reach every program that uses brokers or database', () => {
    const manifests = manifestsOf('TLS and SCRAM');
    const pods = {
      SVC_QUEUE: podOf(manifests, '-gateway'),
      WRITER_QUEUE: podOf(manifests, '-trace-writer'),
      STORE_API_QUEUE: podOf(manifests, '-store-api'),
      SCAN_QUEUE: podOf(manifests, '-enrich-scan-queue'),
    };
    for (const [prefix, pod] of Object.entries({ ...pods, VITRINE_KAFKA: podOf(manifests, '-topics') })) {
      expect(variablesOf(pod)).toMatchObject({
        [`${prefix}_TLS_CA_PATH`]: { value: '/etc/vitrine/kafka-ca/ca.crt' },
        [`${prefix}_TLS_CERT_PATH`]: { value: '/etc/vitrine/kafka-client/user.crt' },
        [`${prefix}_SASL_MECHANISM`]: { value: 'scram-sha-512' },
        [`${prefix}_SASL_PASSWORD`]: { valueFrom: { secretKeyRef: { name: 'kafka-user', key: 'password' } } },
      });
      expect(pod.containers[0].volumeMounts.map(({ mountPath }) => mountPath)).toContain('/etc/vitrine/kafka-ca');
    }
    expect(podOf(manifests, '-operator').containers[0].volumeMounts.map(({ mountPath }) => mountPath)).toContain(
      '/etc/vitrine/database-ca',
    );
    expect(specOf(manifests, 'TriggerAuthentication', '-trace-writer')).toMatchObject({
      env: [{ parameter: 'username', name: 'WRITER_QUEUE_SASL_USERNAME', containerName: 'trace-writer' }],
    });
  });

  test('images: a digest wins over a tag, a tag of the service over the common one, and the version of the chart is the default', () => {
    const manifests = manifestsOf('own images, labels and places');
    const imageOf = (suffix: string) => podOf(manifests, suffix).containers[0].image;
    expect(imageOf('-gateway')).toBe(`registry.example.com/vitrine/gateway@sha256:${'a'.repeat(64)}`);
    expect(imageOf('-trace-writer')).toBe('registry.example.com/vitrine/trace-writer:1.2.3');
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(podOf(manifestsOf('servers of one’s own'), '-gateway').containers[0].image).toBe(`vitrine/gateway:${version}`);
    const own = render({ image: { tag: '2' }, gateway: { image: { tag: '3' } } });
    expect(podOf(own, '-gateway').containers[0].image).toBe('vitrine/gateway:3');
  });

  test('replicas are omitted if set elsewhere; a disruption budget exists with more than one', () => {
    const budgets = (name: string) =>
      manifestsOf(name)
        .filter(({ kind }) => kind === 'PodDisruptionBudget')
        .map(({ metadata }) => metadata.name);
    const replicas = (name: string, suffix: string) => (specOf(manifestsOf(name), 'Deployment', suffix) as WorkloadSpec).replicas;
    expect([replicas('autoscaled', '-gateway'), replicas('autoscaled', '-trace-writer')]).toEqual([undefined, undefined]);
    expect(replicas('servers of one’s own', '-gateway')).toBe(2);
    expect(budgets('servers of one’s own')).toEqual(['shop-gateway', 'shop-store-api', 'shop-trace-writer']);
    expect(budgets('one pod of each')).toEqual([]);
    expect(specOf(manifestsOf('autoscaled'), 'HorizontalPodAutoscaler', '-gateway')).toMatchObject({
      scaleTargetRef: { kind: 'Deployment', name: 'shop-gateway' },
      minReplicas: 2,
      maxReplicas: 10,
    });
    expect(specOf(manifestsOf('autoscaled'), 'ScaledObject', '-trace-writer')).toMatchObject({
      scaleTargetRef: { name: 'shop-trace-writer' },
      minReplicaCount: 2,
      triggers: [{ metadata: { topic: 'vitrine.traces', consumerGroup: 'vitrine-trace-writer', allowIdleConsumers: 'false' } }],
    });
  });

  test('Jobs are ordinary ones named by their content, and migrations also run before an upgrade', () => {
    const jobsOf = (values: object) => render(values).filter(({ kind }) => kind === 'Job');
    const jobs = jobsOf({});
    const isHook = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] !== undefined;
    expect(jobs.filter(isHook).map(({ metadata }) => [metadata.name, metadata.annotations?.['helm.sh/hook']])).toEqual([
      ['shop-migrations-upgrade', 'pre-upgrade'],
    ]);
    const namesOf = (values: object) =>
      jobsOf(values)
        .filter((job) => !isHook(job))
        .map(({ metadata }) => metadata.name);
    expect(namesOf({})).toEqual([expect.stringMatching(/^shop-migrations-[0-9a-f]{10}$/)]);
    expect(namesOf({})).toEqual(namesOf({ gateway: { replicas: 5 } }));
    const changed = namesOf({ image: { tag: '9' } });
    expect(changed.filter((name) => namesOf({}).includes(name))).toEqual([]);
    for (const { spec } of jobs) expect(spec).toMatchObject({ backoffLimit: 5, activeDeadlineSeconds: 900 });
  });

  test('a permanent program keeps topics, so that lost ones are created again', () => {
    const pod = podOf(manifestsOf('servers of one’s own'), '-topics');
    expect(pod.containers[0].args).toEqual(['topics', '--watch', '5']);
    expect(pod).toMatchObject({ restartPolicy: 'Always' });
    expect(named(manifestsOf('as little as possible'), 'Deployment', '-topics')).toBeUndefined();
  });

  test('the pepper is kept on uninstall and cannot be overwritten; an existing one is not created', () => {
    const pepper = named(manifestsOf('servers of one’s own'), 'Secret', '-pepper');
    expect(pepper).toMatchObject({ metadata: { annotations: { 'helm.sh/resource-policy': 'keep' } }, immutable: true });
    const { data } = pepper as unknown as { readonly data: { readonly peppers: string } };
    expect(Buffer.from(data.peppers, 'base64').toString()).toMatch(/^\d{10}:[A-Za-z0-9]{48}$/);
    const manifests = manifestsOf('one tenant');
    expect(named(manifests, 'Secret', '-pepper')).toBeUndefined();
    expect(variablesOf(podOf(manifests, '-gateway'))['SVC_AUTH_PEPPERS']?.valueFrom).toEqual({
      secretKeyRef: { name: 'own-pepper', key: 'pepper.txt' },
    });
    expect(variablesOf(podOf(manifests, '-operator'))).toMatchObject({
      OPERATOR_AUTH_PEPPER_PATH: { value: '/etc/vitrine/pepper/pepper.txt' },
      OPERATOR_TENANCY_DEFAULT_ORG: { value: 'acme' },
    });
  });

  test('the operator writes where clients reach the gateway, with its own prefixes and header, into Secrets of keys', () => {
    const clientsOf = (gateway: object) =>
      Object.entries(variablesOf(podOf(render({ gateway }), '-operator')))
        .filter(([name]) => name.startsWith('OPERATOR_CLIENTS_'))
        .map(([name, { value }]) => [name.replace('OPERATOR_CLIENTS_', ''), value]);
    expect(clientsOf({})).toEqual([
      ['OPENAI_BASE_URL', 'http://shop-gateway.gateways.svc:8080/openai/v1'],
      ['ANTHROPIC_BASE_URL', 'http://shop-gateway.gateways.svc:8080/anthropic'],
    ]);
    const config = { auth: { header: 'X-Key' }, providers: { openai: { prefix: '/ai' } } };
    expect(clientsOf({ service: { port: 80 }, config })).toEqual([
      ['OPENAI_BASE_URL', 'http://shop-gateway.gateways.svc:80/ai/v1'],
      ['ANTHROPIC_BASE_URL', 'http://shop-gateway.gateways.svc:80/anthropic'],
      ['KEY_HEADER', 'X-Key'],
    ]);
  });

  test('the operator reads all Secrets only without a list of namespaces', () => {
    const secretsIn = (name: string) =>
      manifestsOf(name)
        .filter((manifest) => JSON.stringify(manifest).includes('"secrets"'))
        .map(({ kind, metadata }) => [kind, metadata.namespace]);
    expect(secretsIn('servers of one’s own')).toEqual([['ClusterRole', undefined]]);
    expect(secretsIn('namespaces that are listed')).toEqual([
      ['Role', 'team-a'],
      ['Role', 'team-b'],
    ]);
    expect(JSON.stringify([...rendered.values()])).not.toContain('"*"');
    expect(variablesOf(podOf(manifestsOf('namespaces that are listed'), '-operator'))).toMatchObject({
      OPERATOR_NAMESPACE: { value: NAMESPACE },
      OPERATOR_WATCH_NAMESPACES: { value: 'team-a,team-b' },
    });
  });

  test.each(['view', 'edit', 'admin'])('the cluster role %s has rights on keys and plans, never on Secrets', (role) => {
    const found = named(manifestsOf('servers of one’s own'), 'ClusterRole', `-${role}`);
    expect(found?.metadata.labels).toMatchObject({ [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true' });
    const { rules } = found as unknown as {
      readonly rules: readonly { readonly apiGroups: string[]; readonly verbs: string[] }[];
    };
    expect(rules.flatMap(({ apiGroups }) => apiGroups)).toEqual(['vitrine.dev']);
    expect(rules.some(({ verbs }) => verbs.includes('create'))).toBe(role !== 'view');
  });

  test('a NetworkPolicy opens the ports in the values: brokers, providers, telemetry', () => {
    const portsOf = (name: string, suffix: string) => {
      const { egress } = specOf(manifestsOf(name), 'NetworkPolicy', suffix) as { egress: { ports: { port: number }[] }[] };
      return egress.flatMap(({ ports }) => ports.map(({ port }) => port));
    };
    expect(portsOf('servers of one’s own', '-gateway')).toEqual([53, 53, 5432, 9092, 9094, 443]);
    expect(portsOf('servers of one’s own', '-operator')).toEqual([53, 53, 5432, 443, 6443]);
    expect(portsOf('own images, labels and places', '-gateway')).toEqual([53, 53, 5432, 9092, 9094, 443, 8090, 4319, 1234]);
  });

  test('a scanner reaches the public web, but no address of a cluster or a private network', () => {
    const { egress } = specOf(manifestsOf('servers of one’s own'), 'NetworkPolicy', '-enrich-scan-queue') as {
      egress: { ports: { port: number }[]; to?: { ipBlock: { cidr: string; except: string[] } }[] }[];
    };
    expect(egress.map(({ to, ports }) => [to === undefined, ports.map(({ port }) => port)])).toEqual([
      [true, [53, 53]],
      [true, [5432]],
      [true, [9092, 9094]],
      [false, [80, 443]],
    ]);
    const [v4, v6] = egress.at(-1)?.to ?? [];
    const refused = new BlockList();
    for (const cidr of v4?.ipBlock.except ?? []) {
      const [network = '', prefix] = cidr.split('/');
      refused.addSubnet(network, Number(prefix));
    }
    const inside = ['10.96.0.1', '10.244.0.7', '172.16.0.1', '172.31.255.255', '192.168.1.1', '127.0.0.1', '169.254.169.254'];
    for (const address of [...inside, '100.64.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255'])
      expect([address, refused.check(address)]).toEqual([address, true]);
    for (const address of ['1.1.1.1', '172.32.0.1', '192.169.0.1', '100.128.0.1', '23.227.38.65'])
      expect([address, refused.check(address)]).toEqual([address, false]);
    // It contains no loopback, link-local or unique local addresses.
    expect([v4?.ipBlock.cidr, v6?.ipBlock.cidr]).toEqual(['0.0.0.0/0', '2000::/3']);
  });

  test('store API and scanner share peppers, service token and public URLs with other components', () => {
    const own = manifestsOf('servers of one’s own');
    const api = variablesOf(podOf(own, '-store-api'));
    expect(api).toMatchObject({
      STORE_API_AUTH_PEPPERS: { valueFrom: { secretKeyRef: { name: 'shop-pepper', key: 'peppers' } } },
      STORE_API_GRAPHQL_SERVICE_TOKEN: { valueFrom: { secretKeyRef: { name: 'shop-graphql-token', key: 'token' } } },
    });
    expect(Object.keys(api).filter((name) => name.includes('_PUBLIC_'))).toEqual([]);
    const token = named(own, 'Secret', '-graphql-token') as unknown as { readonly data: { readonly token: string } };
    expect(token).toMatchObject({ metadata: { annotations: { 'helm.sh/resource-policy': 'keep' } }, immutable: true });
    expect(Buffer.from(token.data.token, 'base64').toString()).toMatch(/^[A-Za-z0-9]{48}$/);
    const given = manifestsOf('one tenant');
    expect(named(given, 'Secret', '-graphql-token')).toBeUndefined();
    expect(variablesOf(podOf(given, '-store-api'))).toMatchObject({
      STORE_API_GRAPHQL_SERVICE_TOKEN: { valueFrom: { secretKeyRef: { name: 'own-token', key: 'token.txt' } } },
      STORE_API_PUBLIC_API_URL: { value: 'https://api.example.com' },
    });
    expect(variablesOf(podOf(given, '-enrich-scan-queue'))).toMatchObject({
      SCAN_PUBLIC_CONSOLE_URL: { value: 'https://console.example.com' },
      SCAN_FETCH_CONTACT_URL: { value: 'https://api.example.com' },
    });
  });

  test('scanners are scaled by the lag of both topics, the trace-writers by that of theirs', () => {
    const topicsOf = (suffix: string) => {
      const { triggers } = specOf(manifestsOf('autoscaled'), 'ScaledObject', suffix) as {
        triggers: { metadata: { topic: string } }[];
      };
      return triggers.map(({ metadata }) => metadata.topic);
    };
    expect(topicsOf('-enrich-scan-queue')).toEqual(['vitrine.scans.requested', 'vitrine.scans.routine']);
    // Where scans are queued, and where topics are created.
    for (const file of ['packages/stores/model/src/scans/queue-scans.ts', 'migrations/src/topics-config.ts'])
      expect(readFileSync(join(ROOT, file), 'utf8').match(/'vitrine\.scans\.\w+'/g)).toEqual(
        topicsOf('-enrich-scan-queue').map((topic) => `'${topic}'`),
      );
    expect(topicsOf('-trace-writer')).toEqual(['vitrine.traces']);
    const scanner = (name: string) => specOf(manifestsOf(name), 'Deployment', '-enrich-scan-queue') as WorkloadSpec;
    expect([scanner('autoscaled').replicas, scanner('servers of one’s own').replicas]).toEqual([undefined, 1]);
    expect(specOf(manifestsOf('TLS and SCRAM'), 'TriggerAuthentication', '-enrich-scan-queue')).toMatchObject({
      env: [{ parameter: 'username', name: 'SCAN_QUEUE_SASL_USERNAME', containerName: 'enrich-scan-queue' }],
    });
  });

  test('a ServiceMonitor exists if it is enabled and its kind is known', () => {
    const values = { metrics: { serviceMonitor: { enabled: true } } };
    const monitorsOf = (versions: readonly string[]) =>
      render(values, { apiVersions: versions }).filter(({ kind }) => kind === 'ServiceMonitor');
    expect(monitorsOf([])).toEqual([]);
    expect(monitorsOf(apiVersions).map(({ metadata }) => metadata.name)).toEqual([
      'shop-enrich-scan-queue',
      'shop-gateway',
      'shop-operator',
      'shop-store-api',
      'shop-trace-writer',
    ]);
    const enabled = podOf(manifestsOf('servers of one’s own'), '-gateway');
    expect(variablesOf(enabled)).toHaveProperty('SVC_OBSERVABILITY_OTEL_PROMETHEUS_PORT', { value: '9090' });
    expect(variablesOf(podOf(manifestsOf('as little as possible'), '-gateway'))).not.toHaveProperty(
      'SVC_OBSERVABILITY_OTEL_PROMETHEUS_PORT',
    );
  });

  test.each(Object.keys(CHART_CASES).filter((name) => !name.includes('of the chart')))(
    '%s: kube-score finds nothing critical',
    (name) => {
      // Tags are versions, so nodes need not look for another image each time; the plan of a chart is not to need two pods.
      const ignored = ['container-image-pull-policy'].flatMap((check) => ['--ignore-test', check]);
      const input = renderText({ helm: 'helm4', values: CHART_CASES[name] ?? {} });
      if (name === 'as little as possible') ignored.push('--ignore-test', 'pod-networkpolicy');
      const { stdout } = runProgram('kube-score', ['score', '--output-format=ci', ...ignored, '-'], input);
      expect(stdout).toContain('[OK]');
      expect(stdout.split('\n').filter((line) => line.startsWith('[CRITICAL]'))).toEqual([]);
    },
  );

  test('disabled parts are absent', () => {
    const kinds = new Set(manifestsOf('as little as possible').map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(['ConfigMap', 'Deployment', 'Pod', 'PodDisruptionBudget', 'Secret', 'Service']);
  });
});
