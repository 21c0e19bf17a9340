import type { BillingUnit } from '@vitrine/stores/resources/billing';
import type { Scope } from '@vitrine/stores/resources/enumerations';
import { z } from 'zod';
import { operation, type Method, type Operation } from './operation.ts';

const NOTES = 'Defined for a later release: it answers 501 not_implemented until GET /v1 lists it. Do not call it before.';
const ID = z.object({ id: z.string().describe('Id of the resource.') });
const DOMAIN = z.object({ domain: z.string().describe('As in getStore.') });

function later(
  operationId: string,
  line: `${Method} ${string}`,
  summary: string,
  scope: Scope,
  units: readonly BillingUnit[] = [],
): Operation {
  const [method, path] = line.split(' ') as [Method, string];
  const params = path.includes('{id}') ? { params: ID } : path.includes('{domain}') ? { params: DOMAIN } : {};
  return operation({ operationId, method, path, summary, scope, units, agentNotes: NOTES, ...params, status: 200, errors: [] });
}

/** Operations of the contract that are not implemented yet. Spec: S11.4. */
export const LATER_OPERATIONS: readonly Operation[] = [
  later('getStoreHistory', 'GET /v1/stores/{domain}/history', 'Lists the changes of a store.', 'read:signals', ['history_query']),
  later('searchSignals', 'GET /v1/signals', 'Searches confirmed changes of all stores.', 'read:signals', ['history_query']),
  later('listWatchlists', 'GET /v1/watchlists', 'Lists watchlists.', 'read:watchlists'),
  later('createWatchlist', 'POST /v1/watchlists', 'Creates a watchlist.', 'write:watchlists'),
  later('getWatchlist', 'GET /v1/watchlists/{id}', 'Returns a watchlist.', 'read:watchlists'),
  later('updateWatchlist', 'PATCH /v1/watchlists/{id}', 'Changes a watchlist.', 'write:watchlists'),
  later('deleteWatchlist', 'DELETE /v1/watchlists/{id}', 'Deletes a watchlist.', 'write:watchlists'),
  later('listWebhooks', 'GET /v1/webhooks', 'Lists webhook subscriptions.', 'read:webhooks'),
  later('createWebhook', 'POST /v1/webhooks', 'Creates a webhook subscription.', 'write:webhooks'),
  later('getWebhook', 'GET /v1/webhooks/{id}', 'Returns a webhook subscription.', 'read:webhooks'),
  later('updateWebhook', 'PATCH /v1/webhooks/{id}', 'Changes a webhook subscription.', 'write:webhooks'),
  later('deleteWebhook', 'DELETE /v1/webhooks/{id}', 'Deletes a webhook subscription.', 'write:webhooks'),
  later('getJob', 'GET /v1/jobs/{id}', 'Returns the status and the result of a job.', 'read:jobs'),
  later('requestScan', 'POST /v1/scans', 'Requests scans of domains.', 'write:scans', ['refresh_requested']),
];
