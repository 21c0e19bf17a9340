import { codeOf, Fault } from '@vitrine/faults/fault';
import { readPlanDocument, type PlanDocument } from '@vitrine/plans/plan-document';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** The key of the ConfigMap. */
export const PLAN_FILE = 'plans.json';
/** A ConfigMap holds at most a MiB. */
const MAX_BYTES = 1_048_576;

/** Reads the document of a mounted ConfigMap; undefined while there is none, because the operator makes it after the pods may have started.
 *  The whole path is resolved by each read, so that the swap of `..data` is followed. Faults: `invalid_plans`. */
export async function readPlanDirectory(folder: string): Promise<PlanDocument | undefined> {
  const path = join(folder, PLAN_FILE);
  try {
    // Opened once: the path may lead to another file a moment later.
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > MAX_BYTES) throw new Fault('invalid_plans', { say: `${path} has ${size} bytes; at most ${MAX_BYTES}` });
    return readPlanDocument(await file.readFile('utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
