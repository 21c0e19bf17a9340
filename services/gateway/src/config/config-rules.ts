import type { ConfigFault } from '@vitrine/config/read-config';
import type { DeepPartial } from '@vitrine/config/partial-value';
import type { Secret } from '@vitrine/config/secret';
import { kafkaKeyFaults, type KafkaKeys } from '@vitrine/kafka/kafka-config';
import type { OtelConfig } from '@vitrine/telemetry/config/otel-config';
import type { StoreSummary } from '@vitrine/traces/trace-store';
import type { AuthConfig } from '../auth/auth-config.ts';
import type { GatewayLimits } from '@vitrine/plans/plan-limits';
import type { LimitsConfig } from '../limits/limits-config.ts';

/** The parts of the configuration that the rules read. */
type Parts = DeepPartial<{
  server: { port: number };
  storage: { driver: StoreSummary['driver']; dsn?: Secret | undefined };
  queue: { driver: 'memory' | 'kafka' } & KafkaKeys;
  providers: Record<'openai' | 'anthropic', { prefix: string }>;
  observability: { otel: OtelConfig };
  auth: AuthConfig;
  limits: LimitsConfig;
  plans: Record<string, GatewayLimits>;
}>;

/** Rules between parts of the configuration. An invalid part is missing here and reported by its schema; the rules check the others.
 *  Spec: G9.3, G9.9, G12.8, G12.13. */
export const configRules: readonly ((config: Parts) => readonly ConfigFault[])[] = [
  scrapePort,
  scrapePath,
  providerPrefixes,
  keysOfTheFile,
  uniqueKeys,
  knownPlans,
  uniquePeppers,
  sharedCounters,
  dsn,
  queueDriver,
  sharedPepper,
];

function scrapePort({ observability, server }: Parts): ConfigFault[] {
  const port = observability?.otel?.prometheus_port;
  if (port === undefined || port === 0 || port !== server?.port) return [];
  return [{ path: 'observability.otel.prometheus_port', message: `must not be server.port, ${port}` }];
}

function scrapePath({ observability, providers }: Parts): ConfigFault[] {
  const path = observability?.otel?.prometheus_path;
  const covering = Object.entries(providers ?? {}).filter(([, provider]) => overlap(path, provider?.prefix));
  return covering.map(([name, provider]) => ({
    path: 'observability.otel.prometheus_path',
    message: `must not overlap providers.${name}.prefix, ${provider?.prefix}; got "${path}"`,
  }));
}

function providerPrefixes({ providers }: Parts): ConfigFault[] {
  const [openai, anthropic] = [providers?.openai?.prefix, providers?.anthropic?.prefix];
  if (!overlap(openai, anthropic)) return [];
  return [
    { path: 'providers.anthropic.prefix', message: `must not overlap providers.openai.prefix, ${openai}; got "${anthropic}"` },
  ];
}

function keysOfTheFile({ auth }: Parts): ConfigFault[] {
  if (auth?.enabled !== true || auth.store !== 'file' || auth.keys === undefined || auth.keys.length > 0) return [];
  const message = 'must contain a key, because auth.enabled is true and auth.store is file; or set auth.store to database';
  return [{ path: 'auth.keys', message }];
}

function uniqueKeys({ auth }: Parts): ConfigFault[] {
  const keys = auth?.keys ?? [];
  const ids = keys.map((key) => key?.id);
  const tokens = keys.map((key) => key?.token?.reveal());
  return keys.flatMap((_, i) => [
    ...(isRepeated(ids, i) ? [{ path: `auth.keys.${i}.id`, message: `is the id of another key; got "${ids[i]}"` }] : []),
    ...(isRepeated(tokens, i) ? [{ path: `auth.keys.${i}.token`, message: 'is the token of another key' }] : []),
    ...(ids.some((id) => id !== undefined && id === tokens[i])
      ? [{ path: `auth.keys.${i}.token`, message: 'must not be the id of a key: ids are shown' }]
      : []),
  ]);
}

/** Every request of a key with an unknown plan would be rejected. Where plans can come from elsewhere, it may be created later. */
function knownPlans({ auth, limits, plans, storage }: Parts): ConfigFault[] {
  if (plans === undefined || storage?.driver !== 'sqlite' || limits?.plans_dir !== undefined) return [];
  return (auth?.keys ?? []).flatMap((key, i) =>
    key?.plan === undefined || Object.hasOwn(plans, key.plan)
      ? []
      : [{ path: `auth.keys.${i}.plan`, message: unknownPlanText(key.plan, Object.keys(plans)) }],
  );
}

export function unknownPlanText(plan: string, known: readonly string[]): string {
  const plans = known.length === 0 ? 'no plan is configured' : `configured plans: ${known.join(', ')}`;
  return `unknown plan "${plan}"; ${plans}`;
}

function uniquePeppers({ auth }: Parts): ConfigFault[] {
  const versions = (auth?.peppers ?? []).map((pepper) => pepper?.version);
  return versions.flatMap((_, i) =>
    isRepeated(versions, i) ? [{ path: `auth.peppers.${i}`, message: 'has the version of another pepper' }] : [],
  );
}

function sharedCounters({ limits, storage }: Parts): ConfigFault[] {
  if (limits?.counters !== 'shared' || storage?.driver === undefined || storage.driver === 'postgres') return [];
  return [{ path: 'limits.counters', message: `shared needs storage.driver: postgres; it is ${storage.driver}` }];
}

function dsn({ storage }: Parts): ConfigFault[] {
  const { driver, dsn: given } = storage ?? {};
  if (driver === 'postgres' && given === undefined)
    return [{ path: 'storage.dsn', message: 'must be set, because storage.driver is postgres' }];
  if (driver === 'sqlite' && given !== undefined)
    return [{ path: 'storage.dsn', message: 'has no effect, because storage.driver is sqlite: set that to postgres' }];
  return [];
}

function queueDriver({ storage, queue }: Parts): ConfigFault[] {
  if (queue?.driver === 'memory' && (queue.brokers?.length ?? 0) > 0)
    return [{ path: 'queue.brokers', message: 'has no effect, because queue.driver is memory: set that to kafka' }];
  if (queue?.driver !== 'kafka') return [];
  const store =
    storage?.driver === 'sqlite'
      ? [{ path: 'queue.driver', message: 'must be memory, because storage.driver is sqlite: trace-writers write to postgres' }]
      : [];
  return [...store, ...kafkaKeyFaults('queue', queue)];
}

/** If each gateway created its own pepper, the keys of one would be invalid for the others. */
function sharedPepper({ storage, auth }: Parts): ConfigFault[] {
  if (storage?.driver !== 'postgres' || auth?.enabled !== true || auth.store !== 'database') return [];
  if (auth.peppers === undefined || auth.peppers.length > 0) return [];
  const message = 'must contain a pepper, because storage.driver is postgres: all gateways have to hash tokens with the same';
  return [{ path: 'auth.peppers', message }];
}

function isRepeated(values: readonly unknown[], i: number): boolean {
  return values[i] !== undefined && values.indexOf(values[i]) < i;
}

/** Whether one path equals the other or is below it. */
function overlap(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}
