import { orderCheckpoints } from './checkpoint-order.ts';
import type { Tenant } from './exchange-scope.ts';
import { TRACE_ID } from './trace-id.ts';
import type { TraceStore } from './trace-store.ts';
import type { Checkpoint } from './trace.ts';

/** Maximum number of runs followed. Each is a fork of the previous one and takes up to four reads. */
const RUNS_MAX = 32;

interface AncestryRequest {
  /** Checkpoints of one run, in order. */
  readonly run: readonly Checkpoint[];
  /** The checkpoint whose ancestors are requested. */
  readonly target: Checkpoint;
  readonly tenant: Tenant | undefined;
  /** Maximum number of ancestors; those nearest to the run are kept. */
  readonly limit: number;
}

interface Ancestry {
  /** From the root up to the fork of the run. */
  readonly checkpoints: Checkpoint[];
  /** Whether there are earlier ones. */
  readonly isCut: boolean;
}

/** The checkpoints that a run was forked from, back to the root: the parents of its first checkpoint through all runs, or earlier checkpoints of
 *  the run if clients sent no parents. Never crosses into another tenant or into another group named by a client. Spec: G6.6. */
export async function readAncestry(
  store: Pick<TraceStore, 'ancestors' | 'checkpoints'>,
  { run, target, tenant, limit }: AncestryRequest,
): Promise<Ancestry> {
  const known = new Set(run.map(({ id }) => id));
  /** The nearest first. */
  const found: Checkpoint[] = [];
  const add = (one: Checkpoint) => {
    known.add(one.id);
    found.push(one);
  };
  const ancestry = (isCut: boolean): Ancestry => ({ checkpoints: found.slice(0, limit).toReversed(), isCut });
  let group = target.namedGroup;
  let forkedFrom = parentsOutside(run, known, target);
  for (let runs = 0; forkedFrom.length > 0; runs += 1) {
    if (runs === RUNS_MAX) return ancestry(true);
    let last: Checkpoint | undefined;
    for (const one of await firstLine(store, forkedFrom, tenant, limit + 1 - found.length)) {
      const isForeign = group !== undefined && one.namedGroup !== undefined && one.namedGroup !== group;
      if (isForeign || known.has(one.id)) return ancestry(false);
      group = one.namedGroup ?? group;
      add((last = one));
    }
    if (last === undefined || found.length > limit) return ancestry(found.length > limit);

    const { checkpoints, isCapped } = await readBefore(store, last, tenant, limit + 1 - found.length);
    for (const one of checkpoints.toReversed()) if (!known.has(one.id)) add(one);
    if (isCapped || found.length > limit) return ancestry(true);
    forkedFrom = parentsOutside(checkpoints, known);
  }
  return ancestry(false);
}

/** The ancestors of the first existing id. */
async function firstLine(
  store: Pick<TraceStore, 'ancestors'>,
  ids: readonly string[],
  tenant: Tenant | undefined,
  limit: number,
): Promise<Checkpoint[]> {
  for (const id of ids) {
    const line = await store.ancestors({ id, tenant, limit });
    if (line.length > 0) return line;
  }
  return [];
}

/** The earlier checkpoints in the run of a checkpoint without a parent, in order. A run is defined by group, thread and run id. */
async function readBefore(store: Pick<TraceStore, 'checkpoints'>, root: Checkpoint, tenant: Tenant | undefined, limit: number) {
  const { thread_id, run_id } = root.lineage;
  const scope = { trace_group_id: root.namedGroup, thread_id, run_id };
  if (Object.values(scope).every((id) => id === undefined)) return { checkpoints: [], isCapped: false };
  const older = await store.checkpoints({ ...scope, tenant, limit, after: Buffer.from(root.id, 'hex') });
  const same = older.filter(
    ({ lineage, namedGroup }) => lineage.thread_id === thread_id && lineage.run_id === run_id && namedGroup === root.namedGroup,
  );
  const ordered = orderCheckpoints([root, ...same]);
  return { checkpoints: ordered.slice(0, ordered.indexOf(root)), isCapped: older.length === limit };
}

function parentOf(one: Checkpoint | undefined): string | undefined {
  return one?.lineage.parent_checkpoint_id;
}

/** Parents outside the checkpoints: first on the target's path, then of the first in order. Clients may claim any. */
function parentsOutside(ordered: readonly Checkpoint[], known: ReadonlySet<string>, target?: Checkpoint): string[] {
  const byId = new Map(ordered.map((one) => [one.id, one]));
  let id = parentOf(target);
  for (let steps = ordered.length; steps > 0 && id !== undefined && byId.has(id); steps -= 1) id = parentOf(byId.get(id));
  const isOutside = (parent: string | undefined) => parent !== undefined && TRACE_ID.test(parent) && !known.has(parent);
  const first = ordered.find((one) => isOutside(parentOf(one)));
  return [...new Set([id, parentOf(first)])].filter((parent) => parent !== undefined && isOutside(parent)) as string[];
}
