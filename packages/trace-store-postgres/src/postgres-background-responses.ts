import type { Queryable } from '@vitrine/postgres/connection';
import type { BackgroundResponses, RememberedResponse } from '@vitrine/traces/background-responses';
import type { ExchangeScope, Tenant } from '@vitrine/traces/exchange-scope';
import { hash } from 'node:crypto';

type NewResponse = RememberedResponse & { readonly createdAt: number };
type TakenResponse = Omit<RememberedResponse, 'id'>;

/** What the derivation of a record did: responses that it created, and those of which it would count the usage. */
export interface BackgroundWork {
  readonly remembered: readonly NewResponse[];
  readonly wanted: readonly (Tenant & { readonly id: string })[];
}

/** Usage that is ours to count, by tenant and id. */
export type BackgroundClaims = ReadonlyMap<string, TakenResponse>;

const NO_CLAIMS: BackgroundClaims = new Map();

/** Responses in the background that all gateways of a database share. A derivation cannot wait for the database: it takes only what was
 *  claimed before it, and what else it would take is noted. The batch is then read again with the claims, as `readBatch` does; almost no batch
 *  has any. Of ids a hash is stored. */
export class PostgresBackgroundResponses implements BackgroundResponses {
  #claims = new Map<string, TakenResponse>();
  #remembered: NewResponse[] = [];
  #wanted: (Tenant & { readonly id: string })[] = [];

  /** To be called before a batch is read; each claim is given once. */
  start(claims: BackgroundClaims = NO_CLAIMS): void {
    this.#claims = new Map(claims);
    this.takeWork();
  }

  remember(response: NewResponse): void {
    this.#remembered.push(response);
  }

  take(id: string, { org_id, workspace_id }: ExchangeScope): TakenResponse | undefined {
    const name = nameOf({ org_id, workspace_id }, hashOf(id));
    const claim = this.#claims.get(name);
    this.#claims.delete(name);
    this.#wanted.push({ id, org_id, workspace_id });
    return claim;
  }

  /** What was done since the last call; undefined when it was nothing. */
  takeWork(): BackgroundWork | undefined {
    const [remembered, wanted] = [this.#remembered, this.#wanted];
    if (remembered.length === 0 && wanted.length === 0) return undefined;
    [this.#remembered, this.#wanted] = [[], []];
    return { remembered, wanted };
  }
}

/** Stores the new responses of some records, and claims the usage that they would count. In a transaction, both are as its records are:
 *  kept or lost. Rows are locked in the order of their keys. */
export async function settleBackground(queryable: Queryable, work: readonly BackgroundWork[]): Promise<BackgroundClaims> {
  await storeRemembered(
    queryable,
    sorted(
      work.flatMap(({ remembered }) => remembered),
      ({ scope }) => scope,
    ),
  );
  return claim(
    queryable,
    sorted(
      work.flatMap(({ wanted }) => wanted),
      (tenant) => tenant,
    ),
  );
}

async function storeRemembered(queryable: Queryable, responses: readonly NewResponse[]): Promise<void> {
  if (responses.length === 0) return;
  await queryable.execute(
    `INSERT INTO background_responses (org_id, workspace_id, response, gateway_key_id, role, model, created_at)
     SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
     ON CONFLICT DO NOTHING`,
    [
      responses.map(({ scope }) => scope.org_id),
      responses.map(({ scope }) => scope.workspace_id),
      responses.map(({ id }) => bytesText(hashOf(id))),
      responses.map(({ scope }) => scope.gateway_key_id),
      responses.map(({ scope }) => scope.role),
      responses.map(({ model }) => model.replaceAll('\0', '\uFFFD')),
      responses.map(({ createdAt }) => new Date(createdAt)),
    ],
  );
}

async function claim(queryable: Queryable, wanted: BackgroundWork['wanted']): Promise<BackgroundClaims> {
  if (wanted.length === 0) return NO_CLAIMS;
  const rows = await queryable.query<ExchangeScope & { readonly response: Buffer; readonly model: string }>(
    `WITH wanted AS (
       SELECT org_id, workspace_id, response FROM background_responses AS b
       JOIN unnest($1::text[], $2::text[], $3::bytea[]) AS w (org_id, workspace_id, response) USING (org_id, workspace_id, response)
       WHERE NOT counted ORDER BY org_id, workspace_id, response FOR UPDATE OF b
     )
     UPDATE background_responses AS b SET counted = true FROM wanted AS w
     WHERE (b.org_id, b.workspace_id, b.response) = (w.org_id, w.workspace_id, w.response) AND NOT b.counted
     RETURNING b.org_id, b.workspace_id, b.gateway_key_id, b.role, b.response, b.model`,
    [
      wanted.map(({ org_id: org }) => org),
      wanted.map(({ workspace_id: workspace }) => workspace),
      wanted.map(({ id }) => bytesText(hashOf(id))),
    ],
  );
  return new Map(rows.map(({ response, model, ...scope }) => [nameOf(scope, response), { scope, model }]));
}

function sorted<T extends { readonly id: string }>(of: readonly T[], tenantOf: (one: T) => Tenant): T[] {
  const named = of.map((one) => [nameOf(tenantOf(one), hashOf(one.id)), one] as const);
  return named.toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, one]) => one);
}

function nameOf({ org_id: org, workspace_id: workspace }: Tenant, response: Uint8Array): string {
  return `${org}\0${workspace}\0${Buffer.from(response).toString('hex')}`;
}

function bytesText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}

function hashOf(id: string): Uint8Array {
  return hash('sha256', id, 'buffer');
}
