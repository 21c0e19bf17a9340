import type { PlanDocument } from '@vitrine/plans/plan-document';
import type { PlanLimits } from '@vitrine/plans/plan-limits';
import type { WorkspacePlan } from '@vitrine/plans/plan-rows';
import type { Logger } from '@vitrine/telemetry/logger';

export type PlanSource = 'database' | 'directory';

/** The plans that currently apply, in addition to those of the configuration. */
export interface AppliedPlans {
  /** 0 before any source has been read. */
  readonly generation: number;
  readonly plans: Readonly<Record<string, PlanLimits>>;
  readonly workspaces: readonly WorkspacePlan[];
}

export const NO_PLANS: AppliedPlans = { generation: 0, plans: {}, workspaces: [] };

/** The plans of rows in Postgres and of a mounted directory. Each source keeps its last valid document, and the one with the higher
 *  generation applies. Only the rows say which plan a workspace has. */
export class LivePlans {
  readonly #logger: Logger;
  readonly #documents = new Map<PlanSource, PlanDocument>();
  #applied: AppliedPlans = NO_PLANS;
  /** Called after `applied` has changed. */
  onChange: () => void = () => {};

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get applied(): AppliedPlans {
    return this.#applied;
  }

  /** A source has read a valid document. */
  update(source: PlanSource, document: PlanDocument, workspaces: readonly WorkspacePlan[] = this.#applied.workspaces): void {
    this.#documents.set(source, document);
    const newest = this.#newestSource();
    const { generation, checksum, plans } = this.#documents.get(newest) ?? document;
    const before = this.#applied;
    const isNewer = generation !== before.generation;
    if (!isNewer && workspaces === before.workspaces) return;
    this.#applied = { generation, plans, workspaces };
    const changed = changedPlans(before.plans, plans);
    const fields = { generation, checksum, source: newest, changed, plans: Object.keys(plans), workspaces: workspaces.length };
    this.#logger.info(fields, 'plans applied');
    this.onChange();
  }

  #newestSource(): PlanSource {
    const generationOf = (source: PlanSource) => this.#documents.get(source)?.generation ?? -1;
    return generationOf('directory') > generationOf('database') ? 'directory' : 'database';
  }
}

/** The names of added, changed and removed plans. */
function changedPlans(before: AppliedPlans['plans'], after: AppliedPlans['plans']): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).toSorted();
}
