import { isFault } from '@vitrine/faults/fault';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openTraces } from '../offline-traces/open-traces.ts';
import type { GatewayConfig } from '../config.ts';
import type { Check } from './check.ts';
import { storageProblems } from './storage-problems.ts';

/** Whether the traces can be read, and written by a gateway of the same user. Nothing is locked or left behind. */
export async function checkStorage(config: Pick<GatewayConfig, 'storage'>): Promise<Check> {
  const path = resolve(config.storage.path);
  const found = (status: Check['status'], summary: string, details: readonly string[] = []): Check => ({
    name: 'storage',
    status,
    summary,
    details: [`path: ${path}`, ...details],
  });
  const flaws = storageProblems(path, TRACE_FILE);
  if (!existsSync(path)) {
    if (flaws.length > 0) return found('fail', 'the trace file cannot be made', flaws);
    return found('pass', 'there are no traces yet; the gateway makes the file when it starts');
  }
  try {
    using store = openTraces(config);
    const [newest] = (await store.list({ limit: 1 })).items;
    const details = [
      `size: ${statSync(path).size} bytes`,
      newest === undefined ? 'no trace' : `newest trace: ${newest.created_at}`,
    ];
    if (flaws.length > 0) return found('fail', 'the traces can be read, and not be written', [...details, ...flaws]);
    return found('pass', 'the traces can be read and written', details);
  } catch (error) {
    if (!isFault(error)) throw error;
    // A file that is something else is a reason for both.
    const others = flaws.filter((flaw) => !error.say.endsWith(flaw.slice(`${path}: `.length)));
    return found('fail', 'the traces cannot be read', [error.say, ...others]);
  }
}
