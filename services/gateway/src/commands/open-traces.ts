import { Fault, messageOf } from '@vitrine/faults/fault';
import { SqliteTraceReader } from '@vitrine/traces/sqlite/sqlite-trace-reader';
import type { TraceStore } from '@vitrine/traces/trace-store';
import { existsSync } from 'node:fs';
import type { GatewayConfig } from '../config.ts';

/** The traces of the configured store as commands read them: over a connection that cannot write, beside a gateway that may be
 *  running, and without its lock. */
export type OfflineTraces = Pick<TraceStore, 'list' | 'get' | 'checkpoints'> & Disposable;

/** Faults: `storage_unusable`, also of every question. */
export function openTraces({ storage: { path } }: Pick<GatewayConfig, 'storage'>): OfflineTraces {
  const attempt = <T>(read: () => T): T => {
    try {
      return read();
    } catch (cause) {
      throw new Fault('storage_unusable', { say: `${path} cannot be read: ${messageOf(cause)}`, cause });
    }
  };
  if (!existsSync(path))
    throw new Fault('storage_unusable', { say: `${path} is not there: no gateway has written traces to it` });
  const reader = attempt(() => new SqliteTraceReader(path));
  return {
    list: async (query) => attempt(() => reader.list(query)),
    get: async (id) => attempt(() => reader.get(id)),
    checkpoints: async (query) => attempt(() => reader.checkpoints(query)),
    [Symbol.dispose]: () => reader[Symbol.dispose](),
  };
}
