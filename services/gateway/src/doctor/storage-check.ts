import { isFault } from '@vitrine/faults/fault';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { openTraces } from '../commands/open-traces.ts';
import type { GatewayConfig } from '../config.ts';
import type { Check } from './check.ts';

/** Whether the traces can be read, and written by a gateway of the same user. Nothing is made or locked. */
export async function checkStorage(config: Pick<GatewayConfig, 'storage'>): Promise<Check> {
  const path = resolve(config.storage.path);
  const found = (status: Check['status'], summary: string, details: readonly string[] = []): Check => ({
    name: 'storage',
    status,
    summary,
    details: [`path: ${path}`, ...details],
  });
  if (!existsSync(path)) {
    const folder = nearestFolder(dirname(path));
    if (!isWritable(folder)) return found('fail', `the trace file cannot be made: ${folder} is no folder that can be written to`);
    return found('pass', 'there are no traces yet; the gateway makes the file when it starts');
  }
  try {
    using store = openTraces(config);
    const [newest] = (await store.list({ limit: 1 })).items;
    const details = [
      `size: ${statSync(path).size} bytes`,
      newest === undefined ? 'no trace' : `newest trace: ${newest.created_at}`,
    ];
    if (!isWritable(path) || !isWritable(dirname(path)))
      return found('fail', 'the traces can be read, and not be written', details);
    return found('pass', 'the traces can be read and written', details);
  } catch (error) {
    if (!isFault(error)) throw error;
    return found('fail', 'the traces cannot be read', [error.say]);
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestFolder(dirname(path));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return statSync(path).isFile() || statSync(path).isDirectory();
  } catch {
    return false;
  }
}
