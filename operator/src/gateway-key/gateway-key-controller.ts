import { hasPlanRow, planNamesText } from '@vitrine/plans/plan-rows';
import type { ManagedKeyRows } from '@vitrine/gateway-keys/managed-key';
import { PostgresManagedKeys } from '@vitrine/gateway-keys/postgres/postgres-managed-keys';
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ControllerContext } from '../leadership/controller-context.ts';
import { API_VERSION } from '../custom-resources/custom-resource.ts';
import type { Transactions } from '../leadership/fences.ts';
import { Controller, type RepeatedWork } from '../runtime/controller.ts';
import { keyOf, type ListWatch } from '../runtime/list-watch.ts';
import type { WatchedObject } from '../runtime/watch-events.ts';
import { FINALIZER, type GatewayKeyObject } from './gateway-key-resource.ts';
import { GatewayKeyReconciler, type GatewayKeyDependencies } from './gateway-key-reconciler.ts';
import { secretKeyOf } from './read-spec.ts';
import { MANAGED_BY } from './key-secret.ts';
import type { NamespaceObject } from './observed-key.ts';
import { registerLostKeys, shouldHaveRow } from './lost-keys.ts';
import { changedOwners, revisionsByOwner, type RowRevisions } from './row-revisions.ts';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';

/** A database that lost its rows gets them back within 30 s, including a restart of the process. */
const SWEEP_MS = 5_000;
/** How long gateways may take to accept a token after it was staged: they are notified within a second. */
const PROPAGATION_MS = 5_000;

/** The controller of GatewayKeys, for all of a cluster or for some namespaces, each with separate watches because rights are per namespace. */
export function createGatewayKeyController(context: ControllerContext, database: Transactions): Controller {
  const { config, server, pool, telemetry: observer } = context;
  const keys: ListWatch<GatewayKeyObject>[] = [];
  const namespaces: ListWatch<NamespaceObject>[] = [];
  const rows = new PostgresManagedKeys(pool, database);
  const cached = {
    key: (key: string) => firstOf(keys, key),
    namespace: (name: string) => firstOf(namespaces, name),
  };
  const dependencies = dependenciesOf(context, rows, cached);
  const reconciler = new GatewayKeyReconciler(dependencies);
  const secretOwners = new Map<string, string>();
  const controller = new Controller({
    name: 'gatewaykey',
    observer,
    reconcile: async (key, signal) => {
      const object = firstOf(keys, key);
      if (object !== undefined) secretOwners.set(secretKeyOf(object), key);
      return await reconciler.reconcile(key, signal);
    },
  });
  const addSecretOwner = (secret: string, change: string) => {
    // An addition comes from the pass that needs it, and resyncs are handled for keys.
    const owner = change === 'updated' || change === 'deleted' ? secretOwners.get(secret) : undefined;
    if (owner !== undefined && firstOf(keys, owner) === undefined) secretOwners.delete(secret);
    else if (owner !== undefined) controller.add(owner);
  };
  const addKeys = (isAffected: (object: GatewayKeyObject) => boolean) => {
    for (const watch of keys) for (const object of watch.list()) if (isAffected(object)) controller.add(keyOf(object));
  };
  const addKeysOf = (namespace: string, change: string) => {
    if (change === 'updated') addKeys(({ metadata }) => metadata.namespace === namespace);
  };
  for (const { suffix, path, namespace } of scopes(config.watch_namespaces)) {
    const gatewayKeys = `/apis/${API_VERSION}${path}/gatewaykeys`;
    keys.push(
      controller.watch<GatewayKeyObject>(server, `gatewaykeys${suffix}`, {
        path: gatewayKeys,
        onChange: (key) => controller.add(key),
        isChange: isKeyChange,
      }),
    );
    controller.watch<WatchedObject>(server, `secrets${suffix}`, {
      path: `/api/v1${path}/secrets`,
      labelSelector: `${MANAGED_BY.label}=${MANAGED_BY.value}`,
      isMetadataOnly: true,
      onChange: addSecretOwner,
    });
    namespaces.push(
      controller.watch<NamespaceObject>(server, `namespaces${suffix}`, {
        path: '/api/v1/namespaces',
        ...(namespace !== undefined && { fieldSelector: `metadata.name=${namespace}` }),
        isMetadataOnly: true,
        onChange: addKeysOf,
        isChange: isNamespaceChange,
      }),
    );
  }
  const listed = () => keys.flatMap((watch) => watch.list());
  const secretLists = scopes(config.watch_namespaces).map(({ path }) => `/api/v1${path}/secrets`);
  const registerAgain = (lost: readonly string[], signal: AbortSignal) =>
    controller.workTogether(lost, (claimed) => registerLostKeys(claimed, dependencies, secretLists, signal));
  controller.repeat(SWEEP_MS, sweepRows(rows, pool, { listed, addKeys, registerAgain }));
  return controller;
}

function dependenciesOf(
  { config, server, pool, clock, logger, hashes, events, propagationMs = PROPAGATION_MS }: ControllerContext,
  rows: ManagedKeyRows,
  cached: GatewayKeyDependencies['cached'],
): GatewayKeyDependencies {
  const { default_org: org_id, default_workspace: workspace_id } = config.tenancy;
  return {
    server,
    rows,
    hasPlan: async (name) => config.plans.configured.includes(name) || (await hasPlanRow(pool, name)),
    hashes,
    logger,
    clients: config.clients,
    events,
    defaultTenant: org_id === undefined || workspace_id === undefined ? undefined : { org_id, workspace_id },
    cached,
    random: randomBytes,
    clock,
    propagationMs,
  };
}

function firstOf<T extends WatchedObject>(watches: readonly ListWatch<T>[], key: string): T | undefined {
  return watches.map((watch) => watch.get(key)).find((object) => object !== undefined);
}

/** Scope of lists and watches: the whole cluster, or each namespace. */
function scopes(watched: readonly string[]): readonly { suffix: string; path: string; namespace?: string }[] {
  if (watched.length === 0) return [{ suffix: '', path: '' }];
  return watched.map((namespace) => ({ suffix: `/${namespace}`, path: `/namespaces/${namespace}`, namespace }));
}

/** Own writes of status and finalizer cause no pass. */
function isKeyChange({ metadata: before }: GatewayKeyObject, { metadata: after }: GatewayKeyObject): boolean {
  const isUnprotected = before.finalizers?.includes(FINALIZER) === true && after.finalizers?.includes(FINALIZER) !== true;
  const isEdited =
    before.generation !== after.generation || !isDeepStrictEqual(before.annotations ?? {}, after.annotations ?? {});
  return isEdited || isUnprotected || before.deletionTimestamp !== after.deletionTimestamp || before.uid !== after.uid;
}

function isNamespaceChange({ metadata: before = {} }: NamespaceObject, { metadata: after = {} }: NamespaceObject): boolean {
  const read = ({ labels = {}, annotations = {}, deletionTimestamp }: typeof before) => [labels, annotations, deletionTimestamp];
  return !isDeepStrictEqual(read(before), read(after));
}

interface SweptKeys {
  readonly listed: () => readonly GatewayKeyObject[];
  readonly addKeys: (isAffected: (object: GatewayKeyObject) => boolean) => void;
  readonly registerAgain: (keys: readonly string[], signal: AbortSignal) => Promise<void>;
}

/** Registers keys again whose rows the database lost. Adds keys whose rows were changed by others, or whose plan was created or deleted. */
function sweepRows(rows: ManagedKeyRows, pool: PostgresPool, { listed, addKeys, registerAgain }: SweptKeys): RepeatedWork {
  let revisions: RowRevisions = new Map();
  let plans: string | undefined;
  return async (signal) => {
    // Before the rows are read: a key that is registered meanwhile is not lost.
    const registered = listed().filter(shouldHaveRow);
    const found = { revisions: revisionsByOwner(await rows.revisions()), plans: await planNamesText(pool) };
    const owners = changedOwners(revisions, found.revisions);
    addKeys(({ metadata }) => owners.has(metadata.uid));
    const lost = registered.filter(({ metadata }) => !found.revisions.has(metadata.uid));
    if (lost.length > 0) await registerAgain(lost.map(keyOf), signal);
    if (plans !== undefined && plans !== found.plans)
      addKeys(({ spec }) => (spec as { plan?: unknown } | undefined)?.plan !== undefined);
    ({ revisions, plans } = found);
  };
}
