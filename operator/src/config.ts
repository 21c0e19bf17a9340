import { readVersion } from '@vitrine/config/read-version';
import { readConfig, type ConfigSource, type ConfigFault } from '@vitrine/config/read-config';
import { listenKeys } from '@vitrine/http-api/server/listen';
import { planName } from '@vitrine/plans/plan-limits';
import { postgresDsn } from '@vitrine/postgres/postgres-config';
import { logKeys } from '@vitrine/telemetry/logger';
import { otelConfig, otelVariables } from '@vitrine/telemetry/config/otel-config';
import { z } from 'zod';
import type { Pepper } from '@vitrine/credentials/pepper';
import { readPepperFile } from '@vitrine/credentials/pepper-file';
import { Fault, messageOf } from '@vitrine/faults/fault';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const PREFIX = 'OPERATOR_';
/** What names the configuration file when `--config` does not. */
export const OPERATOR_CONFIG_FILE = { variable: 'OPERATOR_CONFIG', defaultFile: 'operator.yaml' };

const otel = otelConfig({ serviceName: 'svc-operator', reservedPaths: ['/api'] });

/** A name of Kubernetes: RFC 1123. */
const kubernetesName = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/, 'must be a name of Kubernetes: small letters, digits, - and .');
const tenantId = z.string().regex(/^[A-Za-z0-9\-_.:]{1,128}$/, 'must be 1 to 128 characters of A-Za-z0-9-_.:');

/** The configuration of the operator; field names are the YAML keys, and equal those of the gateway where both have them. */
export const operatorConfig = z
  .strictObject({
    log: z.strictObject(logKeys).prefault({}),
    /** Probes and metrics; nothing else is served. */
    server: z.strictObject(listenKeys(9090)).prefault({}),
    storage: z.strictObject({ dsn: postgresDsn }),
    /** Its own namespace, for the Lease, PlanLimits and the ConfigMap with the plans. */
    namespace: kubernetesName,
    /** The namespaces whose GatewayKeys it serves; empty for all. */
    watch_namespaces: z.array(kubernetesName).max(256).default([]),
    lease: z.strictObject({ name: kubernetesName.default('vitrine-operator') }).prefault({}),
    plans: z
      .strictObject({
        config_map: kubernetesName.default('vitrine-plans'),
        /** Names of plans in the configuration of the gateways, which need no row. */
        configured: z.array(planName).max(1_000).default([]),
      })
      .prefault({}),
    /** The tenant of namespaces without labels: both or neither. */
    tenancy: z.strictObject({ default_org: tenantId.optional(), default_workspace: tenantId.optional() }).prefault({}),
    /** Settings of clients of the gateway. The Secret of a key contains them for SDKs. */
    clients: z
      .strictObject({
        openai_base_url: z.url({ protocol: /^https?$/ }).optional(),
        anthropic_base_url: z.url({ protocol: /^https?$/ }).optional(),
        /** `auth.header` of the gateway. */
        key_header: z.string().min(1).default('X-Svc-Gateway-Key'),
      })
      .prefault({}),
    auth: z.strictObject({
      /** The gateway's peppers: a file with one VERSION:SECRET a line, the first for new tokens, or a folder of such files. */
      pepper_path: z.string().min(1, 'must not be empty'),
    }),
    observability: z.strictObject({ otel: otel.prefault({}) }).prefault({}),
  })
  .describe('The configuration of the operator.');
export type OperatorConfig = z.infer<typeof operatorConfig>;

/** The scrape is on, because this port serves only probes and metrics. */
const DEFAULTS = { observability: { otel: { prometheus_enabled: true } } };

/** Reads the configuration from one YAML file's text and the environment. Faults: `invalid_config`. */
export function readOperatorConfig(yaml: ConfigSource['yaml'], env: ConfigSource['env']): OperatorConfig {
  const { [OPERATOR_CONFIG_FILE.variable]: _file, ...variables } = env;
  const source = { defaults: DEFAULTS, yaml, env: variables, prefix: PREFIX, named: otelVariables(PREFIX) };
  return readConfig(operatorConfig, source, [({ tenancy = {} }) => tenancyFaults(tenancy)]);
}

function tenancyFaults({ default_org, default_workspace }: Partial<OperatorConfig['tenancy']>): ConfigFault[] {
  if ((default_org === undefined) === (default_workspace === undefined)) return [];
  return [{ path: 'tenancy', message: 'default_org and default_workspace are set together or not at all' }];
}

/** The version of the running operator. */
export const VERSION: string = readVersion(new URL('../package.json', import.meta.url));

/** The gateway's peppers: those of a file, or of the files of a folder by name, like a mounted Secret. The operator never creates one, because
 *  gateways would not have it. Faults: `pepper_unusable`. */
export function readPeppers(path: string): Pepper[] {
  const peppers = filesOf(path).flatMap((file) => readPepperFile(file) ?? []);
  if (peppers.length === 0)
    throw new Fault('pepper_unusable', { say: `${path} has no pepper: mount the pepper of the gateways there` });
  return peppers;
}

function filesOf(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    // The kubelet stores mounted files in folders whose names begin with two dots.
    return readdirSync(path)
      .filter((name) => !name.startsWith('.'))
      .toSorted()
      .map((name) => join(path, name));
  } catch (cause) {
    throw new Fault('pepper_unusable', { say: `${path}: the pepper of gateway keys cannot be read: ${messageOf(cause)}`, cause });
  }
}
