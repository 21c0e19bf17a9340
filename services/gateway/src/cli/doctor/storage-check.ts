import { isFault, messageOf } from '@vitrine/faults/fault';
import { tryWriting } from '@vitrine/sqlite/try-writing';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openTraces } from '../offline-traces/open-traces.ts';
import type { GatewayConfig } from '../../config.ts';
import { postgresOptions, storagePlace } from '../../storage/storage-settings.ts';
import type { Check } from './check.ts';
import { checkDatabase } from './database-check.ts';
import { queueProblems } from './queue-problems.ts';
import { storageProblems } from './storage-problems.ts';

/** Checks whether this user can read and write the traces, by writing. Nothing is locked or left behind. */
export async function checkStorage({ storage, queue }: Pick<GatewayConfig, 'storage' | 'queue'>): Promise<Check> {
  const options = postgresOptions(storage, 'doctor');
  if (options === undefined) return await checkFile({ storage });
  const check = await checkDatabase(options, storagePlace(storage));
  if (queue.driver !== 'kafka') return check;
  const problems = await queueProblems(queue);
  const details = [
    ...check.details,
    ...(problems.length > 0 ? problems : [`topic: ${queue.topic}`, `spool: ${queue.spool.path}`]),
  ];
  return problems.length > 0 && check.status === 'pass'
    ? { ...check, status: 'fail', summary: 'the traces cannot be published', details }
    : { ...check, details };
}

async function checkFile(config: Pick<GatewayConfig, 'storage'>): Promise<Check> {
  const path = resolve(config.storage.path);
  const found = (status: Check['status'], summary: string, details: readonly string[] = []): Check => ({
    name: 'storage',
    status,
    summary,
    details: [`path: ${path}`, ...details],
  });
  const problems = storageProblems(path, TRACE_FILE);
  if (!existsSync(path)) {
    if (problems.length > 0) return found('fail', 'the trace file cannot be created', problems);
    return found('pass', 'there are no traces yet; the gateway creates the file when it starts');
  }
  try {
    const details = [`size: ${statSync(path).size} bytes`, await newestTrace(config)];
    if (problems.length > 0) return found('fail', 'the traces cannot be written', [...details, ...problems]);
    const refusal = writeProblem(path);
    if (refusal !== undefined) return found('fail', 'the traces cannot be written', [...details, refusal]);
    return found('pass', 'the traces can be read and written', details);
  } catch (error) {
    if (!isFault(error)) throw error;
    // A file of another program is reported by both.
    const others = problems.filter((problem) => !error.say.endsWith(problem.slice(`${path}: `.length)));
    return found('fail', 'the traces cannot be read', [error.say, ...others]);
  }
}

function writeProblem(path: string): string | undefined {
  try {
    tryWriting(path);
    return undefined;
  } catch (error) {
    return `${path}: ${messageOf(error)}`;
  }
}

async function newestTrace(config: Pick<GatewayConfig, 'storage'>): Promise<string> {
  await using store = openTraces(config);
  const [newest] = (await store.list({ limit: 1 })).items;
  return newest === undefined ? 'no traces' : `newest trace: ${newest.created_at}`;
}
