import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART_CASES, OWN_SERVERS } from './chart-cases.ts';
import { describeWithPrograms, runProgram } from '../programs.ts';
import { CHART, HELMS, RELEASE, renderNotes, renderText } from './render-chart.ts';

const LIMITS = { limits: { per_key: { requests_per_minute: 60 } } };
type Schema = Readonly<{
  $ref?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  $defs?: Record<string, Schema>;
}>;
const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Record<string, unknown>;
const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema;

const resolve = (of: Schema): Schema =>
  of.$ref === undefined ? of : resolve(schema.$defs?.[of.$ref.replace('#/$defs/', '')] ?? {});
/** Paths of values missing in the schema, and of schema entries without a value. */
function differences(value: unknown, of: Schema, path = ''): string[] {
  const { properties, additionalProperties } = resolve(of);
  if (properties === undefined) return [];
  const entries = Object.entries((value ?? {}) as Record<string, unknown>);
  const unset = Object.keys(properties).filter((key) => key !== 'global' && !entries.some(([name]) => name === key));
  return [
    ...(additionalProperties === false ? [] : [`${path}: open`]),
    ...unset.map((key) => `${path}.${key}: no default`),
    ...entries.flatMap(([key, inner]) => {
      const child = properties[key];
      return child === undefined ? [`${path}.${key}: not in the schema`] : differences(inner, child, `${path}.${key}`);
    }),
  ];
}

test('the schema is closed, names every value, and every value has a default', () => {
  expect(schema).toHaveProperty('$schema', 'https://json-schema.org/draft/2020-12/schema');
  expect(differences(values, schema)).toEqual([]);
});

describeWithPrograms(HELMS, 'wrong values are refused with what to change', () => {
  const cases: [object, string][] = [
    [{ production: true, dev: { enabled: true } }, "'/dev/enabled': value must be 'false where production is true"],
    [{ image: { tag: 'latest' } }, "'/image/tag': value must be 'a version"],
    [{ gateway: { image: { tag: 'latest' } } }, "'/gateway/image/tag': value must be 'a version"],
    [
      { gateway: { image: { digest: 'sha256:12' } } },
      "'/gateway/image/digest': value must be 'sha256: and 64 hexadecimal digits'",
    ],
    [{ gateway: { replica: 3 } }, "'/gateway': additional properties 'replica' not allowed"],
    [{ gateway: { replicas: 0 } }, "'/gateway/replicas': minimum: got 0, want 1"],
    [{ gateway: { config: [] } }, "'/gateway/config': got array, want object"],
    [{ gateway: { extraEnv: [{ key: 'X' }] } }, "'/gateway/extraEnv/0': missing property 'name'"],
    [{ gateway: { service: { type: 'ExternalName' } } }, "'/gateway/service/type': value must be one of 'ClusterIP', 'NodePort'"],
    [{ kafka: { bootstrapServers: 'kafka' } }, "'/kafka/bootstrapServers': value must be 'host:port of brokers, with commas"],
    [{ kafka: { sasl: { mechanism: 'gssapi' } } }, "'/kafka/sasl/mechanism': value must be one of 'none', 'plain'"],
    [{ topics: { replicationFactor: 0 } }, "'/topics/replicationFactor': value must be '-1 (the brokers\\' default) or 1 to 32'"],
    [{ topics: { partitions: '12' } }, "'/topics/partitions': got string, want integer"],
    [{ operator: { watchNamespaces: ['Team'] } }, "'/operator/watchNamespaces/0': 'Team' does not match pattern"],
    [
      { database: { existingSecret: 'My_Secret' } },
      "'/database/existingSecret': value must be 'a name of Kubernetes: small letters",
    ],
    [{ networkPolicy: { databasePorts: [70_000] } }, "'/networkPolicy/databasePorts/0': maximum: got 70,000, want 65,535"],
    [
      { database: { existingSecret: '' } },
      'gateway.database.existingSecret: name a Secret with a DSN of Postgres here or in database',
    ],
    [
      { kafka: { bootstrapServers: '' } },
      'kafka.bootstrapServers: name brokers, such as kafka:9092; dev.enabled=true starts a broker',
    ],
    [{ kafka: { sasl: { mechanism: 'plain' } } }, 'kafka.sasl.existingSecret: name a Secret with the password'],
    [
      { gateway: { spool: { existingClaim: 'spool' } } },
      'gateway.spool.existingClaim: one gateway writes to it; set gateway.replicas=1',
    ],
    [
      { gateway: { terminationGracePeriodSeconds: 25 } },
      'gateway.terminationGracePeriodSeconds: must be more than preStopSeconds and 20 s',
    ],
    [
      { traceWriter: { keda: { enabled: true, maxReplicas: 13 } } },
      'traceWriter.keda.maxReplicas: more than topics.partitions, 12',
    ],
    [
      { enrichScanQueue: { enabled: true, keda: { enabled: true, maxReplicas: 13 } } },
      'enrichScanQueue.keda.maxReplicas: more than topics.partitions, 12',
    ],
    [
      { storeApi: { terminationGracePeriodSeconds: 25 } },
      'storeApi.terminationGracePeriodSeconds: must be more than preStopSeconds and 20 s',
    ],
    [{ publicUrls: { api: 'api.example.com/' } }, "'/publicUrls/api': value must be 'an http:// or https:// URL"],
    [
      { traceWriter: { keda: { enabled: true }, autoscaling: { enabled: true } } },
      'traceWriter.autoscaling.enabled and traceWriter.keda.enabled: both would set the replicas of one Deployment; disable one',
    ],
    [
      { operator: { tenancy: { defaultOrg: 'acme' } } },
      'operator.tenancy: set both of defaultOrg and defaultWorkspace, or neither',
    ],
  ];
  test.each(cases)('%j', (wrong, message) => {
    for (const helm of HELMS) expect(() => renderText({ helm, values: { ...OWN_SERVERS, ...wrong } })).toThrow(message);
  });
});

describeWithPrograms(['helm4'], 'the notes', () => {
  const installs = { ...CHART_CASES, 'limits of usage': { ...OWN_SERVERS, gateway: { config: LIMITS } } };
  test.each(Object.entries(installs))('%s: a shell accepts all of them', (_name, values) => {
    const { status, stderr } = runProgram('bash', ['-n'], renderNotes(values));
    // It warns of an unterminated document.
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('name the release, its namespace and port in commands that can be pasted', () => {
    const notes = renderNotes({ ...OWN_SERVERS, gateway: { service: { port: 80 }, config: { auth: { header: 'X-Key' } } } });
    expect(notes).toContain(`kubectl -n gateways rollout status deployment/${RELEASE}-gateway --timeout=5m`);
    expect(notes).toContain(`helm -n gateways test ${RELEASE}`);
    expect(notes).toContain('kubectl create namespace team-a');
    expect(notes).toContain('kubectl -n team-a wait --for=condition=Ready gatewaykey/first');
    expect(notes).toContain(`port-forward service/${RELEASE}-gateway 18080:80`);
    expect(notes).toContain(`Back up the Secret ${RELEASE}-pepper`);
    expect(notes).toContain('-H "X-Key: $GATEWAY_KEY"');
    expect(notes).not.toContain('dev.enabled');
  });

  test('name an existing namespace of the list', () => {
    const notes = renderNotes({ ...OWN_SERVERS, operator: { watchNamespaces: ['team-b'] } });
    expect(notes).toContain('kubectl label namespace team-b vitrine.dev/org=acme');
    expect(notes).not.toContain('create namespace');
  });

  test('create a key on the command line without an operator, and warn of servers without volumes', () => {
    const notes = renderNotes({ dev: { enabled: true }, operator: { enabled: false } });
    expect(notes).toContain('node services/gateway/src/main.ts keys create --role owner --name first');
    expect(notes).not.toContain('GatewayKey');
    expect(notes).toContain('dev.enabled is for a first look only');
  });
});
