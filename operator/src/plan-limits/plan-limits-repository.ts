import type { KubernetesObject } from '@kubernetes/client-node';
import { deletePlan, planUse, raisePlanGeneration, upsertPlan, type PlanUse } from '@vitrine/plans/plan-changes';
import { planDocument } from '@vitrine/plans/plan-document';
import { readPlanRows } from '@vitrine/plans/plan-rows';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { Transactions } from '../leadership/fences.ts';
import type { ApiRequests } from '../runtime/kubernetes-client.ts';
import { applyObject, mergeObject, readObject } from '../runtime/object-requests.ts';
import type { Observed, Step } from './decide.ts';
import { FINALIZER, PLAN_LIMITS_PATH, type PlanLimitsObject } from './plan-limits-resource.ts';
import { configMapBody, configMapState } from './plans-config-map.ts';

const FIELD_MANAGER = 'vitrine-operator/planlimits';
const NO_USE: PlanUse = { keys: 0, workspaces: 0 };

interface PlanLimitsRepositoryOptions {
  readonly server: ApiRequests;
  /** For reads. */
  readonly pool: PostgresPool;
  /** For writes, which are fenced against a former leader. */
  readonly database: Transactions;
  readonly namespace: string;
  /** The name of the ConfigMap. */
  readonly configMap: string;
}

/** Reads and changes the objects of PlanLimits: the resource, its row and the ConfigMap. */
export class PlanLimitsRepository {
  readonly #options: PlanLimitsRepositoryOptions;

  constructor(options: PlanLimitsRepositoryOptions) {
    this.#options = options;
  }

  path(name: string): string {
    return `${PLAN_LIMITS_PATH(this.#options.namespace)}/${name}`;
  }

  /** The resource; undefined only if the API server reports that it does not exist. A cache may be behind. */
  read(name: string, signal: AbortSignal): Promise<PlanLimitsObject | undefined> {
    return readObject<PlanLimitsObject>(this.#options.server, this.path(name), { signal });
  }

  async gather(object: PlanLimitsObject | undefined, signal: AbortSignal): Promise<Observed> {
    const { server, pool } = this.#options;
    const configMap = await readObject<KubernetesObject>(server, this.#configMapPath, { signal });
    const { name = '', deletionTimestamp } = object?.metadata ?? {};
    return {
      object,
      configMap: configMapState(configMap),
      rows: await readPlanRows(pool),
      use: deletionTimestamp === undefined ? NO_USE : await planUse(pool, name),
    };
  }

  /** Resolves with the updated resource, or with the users of a plan to be deleted. Then later steps must not run. */
  async apply(
    step: Step,
    object: PlanLimitsObject | undefined,
    signal: AbortSignal,
  ): Promise<PlanLimitsObject | PlanUse | undefined> {
    const { database } = this.#options;
    const name = object?.metadata?.name ?? '';
    const write = (work: (transaction: Transaction) => Promise<void>) => database.transaction(work);
    if (step.kind === 'add-finalizer') return await this.#setFinalizers(object, (before) => [...before, FINALIZER], signal);
    if (step.kind === 'remove-finalizer')
      return await this.#setFinalizers(object, (before) => before.filter((one) => one !== FINALIZER), signal);
    if (step.kind === 'delete-row') return (await database.transaction((transaction) => deletePlan(transaction, name))) ?? object;
    if (step.kind === 'write-row') await write((transaction) => upsertPlan(transaction, name, step.limits));
    if (step.kind === 'raise-generation') await write((transaction) => raisePlanGeneration(transaction, step.above));
    if (step.kind === 'write-config-map') await this.#writeConfigMap(signal);
    return object;
  }

  /** Of the current rows, so that an equal generation always has an equal text. */
  async #writeConfigMap(signal: AbortSignal): Promise<void> {
    const { server, pool, namespace, configMap } = this.#options;
    const { generation, plans } = await readPlanRows(pool);
    const body = configMapBody(namespace, configMap, planDocument(generation, plans));
    await applyObject(server, this.#configMapPath, body, FIELD_MANAGER, signal);
  }

  async #setFinalizers(
    object: PlanLimitsObject | undefined,
    change: (before: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<PlanLimitsObject | undefined> {
    const { name = '', resourceVersion = '', finalizers } = object?.metadata ?? {};
    const patch = { metadata: { finalizers: change(finalizers ?? []) } };
    return await mergeObject<PlanLimitsObject>(this.#options.server, this.path(name), patch, resourceVersion, signal);
  }

  get #configMapPath(): string {
    return `/api/v1/namespaces/${this.#options.namespace}/configmaps/${this.#options.configMap}`;
  }
}
