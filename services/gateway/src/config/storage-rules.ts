import type { ConfigFault } from '@vitrine/config/config-fault';
import type { DeepPartial } from '@vitrine/config/partial-value';
import { kafkaKeyFaults, type KafkaKeys } from '@vitrine/kafka/kafka-config';
import type { Secret } from '@vitrine/config/secret';
import type { AuthConfig } from '../auth/auth-config.ts';

type Parts = DeepPartial<{
  storage: { driver: 'sqlite' | 'postgres'; dsn?: Secret | undefined };
  queue: { driver: 'memory' | 'kafka' } & KafkaKeys;
  auth: AuthConfig;
}>;

/** Which keys the drivers of storage and queue need, and which have no effect. Spec: G12.8, G12.13. */
export const storageRules: readonly ((config: Parts) => readonly ConfigFault[])[] = [dsn, queueDriver, sharedPepper];

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

/** A pepper that each gateway makes for itself would make the keys of one invalid for the others. */
function sharedPepper({ storage, auth }: Parts): ConfigFault[] {
  if (storage?.driver !== 'postgres' || auth?.enabled !== true || auth.store !== 'database') return [];
  if (auth.peppers === undefined || auth.peppers.length > 0) return [];
  const message = 'must hold a pepper, because storage.driver is postgres: all gateways have to hash tokens with the same';
  return [{ path: 'auth.peppers', message }];
}
