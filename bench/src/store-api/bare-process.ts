import { admitRequest, releaseRequest } from '@vitrine/stores/admission/admit-request';
import { createId } from '@vitrine/stores/identifiers';
import { allowanceOf } from '@vitrine/stores/default-plan-limits';
import { chargeUsage } from '@vitrine/stores/metering/charge-usage';
import type { Queryable } from '@vitrine/postgres/connection';
import { COLUMN_TYPES } from '@vitrine/postgres/pool-options';
import { Secret } from '@vitrine/config/secret';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import pg from 'pg';
import { serve } from '../proxy/serve.ts';
import { KEYS, PEPPER, tokenOf } from './tokens.ts';

/** The baseline: node:http and a `pg` pool that run the statements of the store API, each committed as there, and put its profiles into the
 *  body as they are. It has no checks, counters or error handling. */
const pool = new pg.Pool({ connectionString: process.argv[2], max: 20, types: COLUMN_TYPES });
const hashes = new TokenHashes([{ version: 1, secret: new Secret(PEPPER) }]);
const HASH_OF = new Map(Array.from({ length: KEYS }, (_, key) => [`Bearer ${tokenOf(key)}`, hashes.all(tokenOf(key))]));
const READ_ONE = `SELECT profile, profile_hash, last_completed_scan_at FROM stores s WHERE domain = $1 AND profile IS NOT NULL
  AND NOT EXISTS (SELECT FROM domain_denylist d WHERE d.domain = s.domain)
  AND (moved_to IS NULL OR NOT EXISTS (SELECT FROM stores t JOIN domain_denylist d ON d.domain = t.domain WHERE t.storefront_id = s.moved_to))`;
const READ_MANY = `SELECT w.domain, s.profile, last.state, last.reason, last.finished_at, CASE
      WHEN EXISTS (SELECT FROM domain_denylist d WHERE d.domain = w.domain) OR (s.moved_to IS NOT NULL AND EXISTS (
        SELECT FROM stores t JOIN domain_denylist d ON d.domain = t.domain WHERE t.storefront_id = s.moved_to)) THEN 'blocked'
      WHEN s.profile IS NOT NULL THEN CASE WHEN s.last_completed_scan_at < now() - make_interval(days => $2) THEN 'stale' ELSE 'matched' END
      WHEN s.last_completed_scan_at IS NOT NULL THEN 'not_ecommerce' ELSE 'not_in_corpus' END AS outcome
  FROM unnest($1::text[]) AS w (domain) LEFT JOIN stores s ON s.domain = w.domain LEFT JOIN LATERAL (
    SELECT status AS state, split_part(error, ':', 1) AS reason, finished_at FROM scan_jobs j
    WHERE j.domain = w.domain AND finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT 1) AS last ON TRUE`;

const database: Queryable = {
  async query<R extends object>(text: string, values: readonly unknown[] = [], options?: { readonly name?: string }) {
    return (await pool.query<R>({ text, values: [...values], ...options })).rows;
  },
  async execute(text, values = [], options) {
    return (await pool.query({ text, values: [...values], ...options })).rowCount ?? 0;
  },
};

let served = 0;
const server = createServer((request, response) => void respond(request, response));
serve(server, () => served);

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const lease_id = randomUUID();
  const token = HASH_OF.get(request.headers.authorization ?? '') ?? [];
  const admission = await admitRequest(database, { token, scope: 'read:stores', lease_id });
  if (!('key' in admission)) throw new Error(admission.outcome);
  const { key, workspace, plan, period } = admission;
  const found =
    request.method === 'GET'
      ? await readOne(request.url ?? '')
      : await readMany(await bodyOf(request), plan.limits.freshnessDays);
  await chargeUsage(database, {
    workspace_id: workspace.id,
    key_id: key.id,
    operation_id: createId('op', Date.now(), randomBytes),
    period_starts_at: period.starts_at,
    allowance: allowanceOf(plan.slug, plan.limits),
    entries: found.domains.map((domain) => ({ domain, unit: 'lookup_cached' as const })),
  });
  await releaseRequest(database, key.id, lease_id);
  served += 1;
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(found.body) });
  response.end(found.body);
}

async function readOne(url: string) {
  const domain = url.slice(url.lastIndexOf('/') + 1);
  const [row] = await database.query<{ profile: string }>(READ_ONE, [domain], { name: 'read_profile' });
  return { domains: [domain], body: `{"match":"matched","store":${row?.profile}}` };
}

async function readMany(text: string, freshnessDays: number) {
  const { domains } = JSON.parse(text) as { readonly domains: readonly string[] };
  const rows = await database.query<{ domain: string; profile: string }>(READ_MANY, [domains, freshnessDays], {
    name: 'read_findings',
  });
  const profiles = new Map(rows.map(({ domain, profile }) => [domain, profile]));
  const results = domains.map(
    (domain) =>
      `{"input":"${domain}","match":"matched","reason":null,"store":${profiles.get(domain)},"scan_requested":false,"scan_job_id":null,"last_attempt":null}`,
  );
  const billed = `"billed":{"lookup_cached":${rows.length},"lookup_live":0}`;
  return {
    domains: rows.map(({ domain }) => domain),
    body: `{"request_id":"req_bare","results":[${results.join(',')}],${billed}}`,
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
