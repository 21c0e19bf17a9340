import type { Queryable } from '@vitrine/postgres/connection';
import { settledRecord, type BackgroundCreator } from '@vitrine/traces/background-response';
import type { ExchangeScope, Tenant } from '@vitrine/traces/exchange-scope';
import type { TraceRecord } from '@vitrine/traces/trace-record';

/** A record that created a background response, or read back a finished one. */
type BackgroundRecord = TraceRecord & { readonly background: NonNullable<TraceRecord['background']> };

/** The stored form of the records: those that read back finished responses are settled. Stores the new responses and claims the usage of the
 *  finished ones in the transaction of the records, so that both are committed or neither. Rows are locked in key order. */
export async function settleBackground(queryable: Queryable, records: readonly TraceRecord[]): Promise<readonly TraceRecord[]> {
  const found = records.filter(isBackground).toSorted((left, right) => (nameIn(left) < nameIn(right) ? -1 : 1));
  await storeCreated(
    queryable,
    found.filter(({ background }) => background.role === 'created'),
  );
  await storeFiles(queryable, records);
  if (found.length === 0) return records;
  const creators = await claim(
    queryable,
    found.filter(({ background }) => background.role === 'finished'),
  );
  return records.map((record) => {
    if (!isBackground(record) || record.background.role !== 'finished') return record;
    const name = nameIn(record);
    const creator = creators.get(name);
    // Each counts once.
    creators.delete(name);
    return settledRecord(record, creator);
  });
}

function isBackground(record: TraceRecord): record is BackgroundRecord {
  return record.background !== undefined;
}

async function storeCreated(queryable: Queryable, records: readonly BackgroundRecord[]): Promise<void> {
  if (records.length === 0) return;
  await queryable.execute(
    `INSERT INTO background_responses (org_id, workspace_id, response, gateway_key_id, role, model, created_at)
     SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
     ON CONFLICT DO NOTHING`,
    [
      records.map(({ scope }) => scope.org_id),
      records.map(({ scope }) => scope.workspace_id),
      records.map(responseBytes),
      records.map(({ scope }) => scope.gateway_key_id),
      records.map(({ scope }) => scope.role),
      records.map(({ model }) => model),
      records.map(({ created_at: createdAt }) => new Date(createdAt)),
    ],
  );
}

/** A file of results has the creator of its batch. */
async function storeFiles(queryable: Queryable, records: readonly TraceRecord[]): Promise<void> {
  const files = records
    .flatMap(({ scope, batch_files: listed = [] }) => listed.map((one) => ({ scope, ...one })))
    .toSorted((left, right) => (nameOf(left.scope, left.file) < nameOf(right.scope, right.file) ? -1 : 1));
  if (files.length === 0) return;
  await queryable.execute(
    `INSERT INTO background_responses (org_id, workspace_id, response, gateway_key_id, role, model, created_at)
     SELECT org_id, workspace_id, f.file, b.gateway_key_id, b.role, b.model, b.created_at
     FROM unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[]) WITH ORDINALITY AS f (org_id, workspace_id, response, file, number)
     JOIN background_responses AS b USING (org_id, workspace_id, response)
     ORDER BY f.number ON CONFLICT DO NOTHING`,
    [
      files.map(({ scope }) => scope.org_id),
      files.map(({ scope }) => scope.workspace_id),
      files.map(({ batch }) => `\\x${batch}`),
      files.map(({ file }) => `\\x${file}`),
    ],
  );
}

async function claim(queryable: Queryable, records: readonly BackgroundRecord[]): Promise<Map<string, BackgroundCreator>> {
  if (records.length === 0) return new Map();
  const rows = await queryable.query<ExchangeScope & { readonly response: Buffer; readonly model: string }>(
    `WITH wanted AS (
       SELECT org_id, workspace_id, response FROM background_responses AS b
       JOIN unnest($1::text[], $2::text[], $3::bytea[]) AS w (org_id, workspace_id, response) USING (org_id, workspace_id, response)
       WHERE NOT counted ORDER BY org_id, workspace_id, response FOR UPDATE OF b
     )
     UPDATE background_responses AS b SET counted = true FROM wanted AS w
     WHERE (b.org_id, b.workspace_id, b.response) = (w.org_id, w.workspace_id, w.response) AND NOT b.counted
     RETURNING b.org_id, b.workspace_id, b.gateway_key_id, b.role, b.response, b.model`,
    [records.map(({ scope }) => scope.org_id), records.map(({ scope }) => scope.workspace_id), records.map(responseBytes)],
  );
  return new Map(rows.map(({ response, model, ...scope }) => [nameOf(scope, response.toString('hex')), { scope, model }]));
}

function nameIn({ scope, background }: BackgroundRecord): string {
  return nameOf(scope, background.response);
}

function nameOf({ org_id: org, workspace_id: workspace }: Tenant, response: string): string {
  return `${org}\0${workspace}\0${response}`;
}

/** The bytea format of Postgres. */
function responseBytes({ background }: BackgroundRecord): string {
  return `\\x${background.response}`;
}
