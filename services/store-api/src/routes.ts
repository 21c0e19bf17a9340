import * as served from './contract/served-operations.ts';
import { invariant } from '@vitrine/faults/invariant';
import { REGISTRY_CHECKSUM } from '@vitrine/registry/rules/rule-index';
import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import { readUsageByKey } from '@vitrine/stores/metering/usage-reports';
import type { PublicUrls } from '@vitrine/stores/profile/render-profile';
import { accountOf, usageOf } from './account/account-resources.ts';
import { respondJson, type ApiRequest, type ApiResult, type ApiRoute, type Operation } from './contract/operation.ts';
import { LATER_OPERATIONS } from './contract/later-operations.ts';
import type { SignedCursors } from './cursors/signed-cursors.ts';
import { enrichStores, type EnrichContext } from './enrich/enrich-stores.ts';
import { respondWithStore } from './stores/get-store.ts';
import { getTechnology, listTechnologies } from './technologies/technology-resources.ts';
import { apiIndexOf, healthOf, versionIndexOf } from './discovery/discovery-documents.ts';

interface RouteContext extends EnrichContext {
  readonly urls: PublicUrls;
  readonly build: string | undefined;
  readonly technologyCursors: SignedCursors;
}

type Result = ApiResult | Promise<ApiResult>;

/** Every operation of the contract in the order of the document; operations without a handler respond with 501 and are not listed by `GET /v1`. */
export function createRoutes(context: RouteContext): ApiRoute[] {
  const { pool, urls, build, technologyCursors } = context;
  const index = respondJson(apiIndexOf(urls));
  const health = respondJson(healthOf(build, REGISTRY_CHECKSUM));
  const routes: ApiRoute[] = [
    route(served.getIndex, () => index),
    route(served.getVersionIndex, () => versionIndex),
    route(served.getHealth, () => health),
    route(served.getOpenapi, () => openapi()),
    keyed(served.getAccount, (_, caller) => respondJson(accountOf(caller))),
    keyed(served.getUsage, async (_, caller) =>
      respondJson(usageOf(caller, await readUsageByKey(pool, caller.workspace.id, caller.period.starts_at))),
    ),
    keyed(served.getStore, (request, caller) => respondWithStore(pool, request, caller)),
    keyed(served.enrichStores, (request, caller) => enrichStores(context, request, caller)),
    keyed(served.listTechnologies, (request, caller) => listTechnologies(request, caller, technologyCursors, urls)),
    keyed(served.getTechnology, (request) => getTechnology(request, urls)),
    ...LATER_OPERATIONS.map((operation) => ({ operation, handle: undefined })),
  ];
  const versionIndex = respondJson(versionIndexOf(urls, servedOperations(routes)));
  const openapi = lazily(async () => {
    // Deferred, because it takes 3 to 15 ms of the start.
    const { contractDocument } = await import('./contract/openapi-document.ts');
    return respondJson(contractDocument(routes, urls.api_url));
  });
  return routes;
}

function route<Query, Body>(operation: Operation<Query, Body>, handle: (request: ApiRequest<Query, Body>) => Result): ApiRoute {
  return { operation, handle: (request) => handle(request as ApiRequest<Query, Body>) };
}

/** The route of an operation that requires a key. */
function keyed<Query, Body>(
  operation: Operation<Query, Body>,
  handle: (request: ApiRequest<Query, Body>, caller: AuthenticatedKey) => Result,
): ApiRoute {
  return route(operation, (request) => {
    invariant(request.caller !== undefined, 'a request with a key has been admitted');
    return handle(request, request.caller);
  });
}

/** Operations with a handler. */
export function servedOperations(routes: readonly ApiRoute[]): Operation[] {
  return routes.flatMap(({ operation, handle }) => (handle === undefined ? [] : [operation]));
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
