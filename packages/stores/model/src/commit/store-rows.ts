import type { Queryable, Row } from '@vitrine/postgres/connection';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { RenderedProfile } from '../profile/render-profile.ts';
import type { Signal, StoreState, TechnologyState } from '../profile/store-state.ts';
import type { ConfirmedSignal, DerivationState } from '../signals/derivation-state.ts';
import type { Observation } from '../observation/observation-facts.ts';
import { MAX_RECENT_SIGNALS } from '../resources/store.ts';

/** Columns of `stores` set from a state, each with its value. */
const COLUMNS: Readonly<Record<string, (state: StoreState) => unknown>> = {
  storefront_id: ({ storefront_id }) => storefront_id,
  domain: ({ domain }) => domain,
  storefront_host: ({ storefront_host }) => storefront_host,
  brand_group_id: ({ brand_group_id }) => brand_group_id,
  name: ({ name }) => name,
  platform: ({ platform }) => platform?.slug,
  platform_confidence: ({ platform }) => platform?.confidence,
  platform_first_observed_at: ({ platform }) => timeOf(platform?.first_observed_at),
  platform_last_confirmed_at: ({ platform }) => timeOf(platform?.last_confirmed_at),
  state: ({ status }) => status.state,
  state_as_of: ({ status }) => timeOf(status.as_of),
  is_ecommerce: ({ is_ecommerce }) => is_ecommerce,
  country: ({ geography }) => geography.country,
  country_basis: ({ geography }) => geography.basis,
  industry: ({ industry }) => industry.slug,
  industry_basis: ({ industry }) => industry.basis,
  product_count: ({ catalog }) => catalog?.product_count,
  available_count: ({ catalog }) => catalog?.available_count,
  currency: ({ catalog }) => catalog?.currency,
  price_p25: ({ catalog }) => catalog?.price_range?.p25,
  price_median: ({ catalog }) => catalog?.price_range?.median,
  price_p75: ({ catalog }) => catalog?.price_range?.p75,
  catalog_as_of: ({ catalog }) => timeOf(catalog?.as_of),
  catalog_coverage: ({ catalog }) => catalog?.coverage,
  last_completed_scan_at: ({ observation }) => timeOf(observation.last_completed_scan_at),
  scope: ({ observation }) => observation.scope,
  coverage_note: ({ observation }) => observation.coverage_note,
};
const NAMES = Object.keys(COLUMNS);
/** Kept if the store exists. */
const KEPT = new Set(['storefront_id', 'domain']);
const TECHNOLOGY_COLUMNS = ['slug', 'install_state', 'confidence', 'first_observed_at', 'last_confirmed_at'] as const;
const SIGNAL_COLUMNS = [
  'id',
  'observation_id',
  'type',
  'technology',
  'from',
  'to',
  'effective_at',
  'confirmed_at',
  'confidence',
] as const;
const quoted = (columns: readonly string[]) => columns.map((column) => `"${column}"`).join(', ');

/** All rows written when an observation is committed. */
interface StoreWrite {
  readonly state: StoreState;
  readonly first_observed_at: number;
  readonly last_observation_id: string;
  readonly derivation: DerivationState;
  readonly profile: RenderedProfile | undefined;
  /** Undefined if it is already in the log. */
  readonly observation: Observation | undefined;
  readonly signals: readonly ConfirmedSignal[];
}

/** One statement, because each takes a round trip while other scans of the store wait. Foreign keys are checked at its end. The number of
 *  parameters is constant, so that it is prepared once. */
function writeStatement(write: StoreWrite): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const put = (value: unknown, type = '') => `$${values.push(value ?? null)}${type}`;
  const putRows = <T extends object>(rows: readonly T[], columns: readonly (keyof T & string)[]) =>
    columnsOf(rows, columns)
      .map((column, i) => put(column, columns[i]?.endsWith('_at') === true ? '::timestamptz[]' : '::text[]'))
      .join(', ');
  const { state, profile, observation, signals } = write;
  const names = [...NAMES, 'last_observation_id', 'profile', 'profile_hash'];
  const own = [write.last_observation_id, profile?.text, profile?.hash];
  const id = put(state.storefront_id, '::text');
  const store = [...NAMES.map((name) => COLUMNS[name]?.(state)), ...own].map((value) => put(value)).join(', ');
  const updates = names.filter((name) => !KEPT.has(name)).map((name) => `${name} = excluded.${name}`);
  const technologies = putRows(state.technologies, TECHNOLOGY_COLUMNS);
  const slugs = put(
    state.technologies.map(({ slug }) => slug),
    '::text[]',
  );
  const logged = rowOfObservation(observation)
    .map(([type, value]) => put(value, `::${type}`))
    .join(', ');
  const text = `WITH store AS (
      INSERT INTO stores AS s (${names.join(', ')}, first_observed_at) VALUES (${store}, ${put(timeOf(write.first_observed_at))})
      ON CONFLICT (storefront_id) DO UPDATE SET ${updates.join(', ')}, first_observed_at = least(s.first_observed_at, excluded.first_observed_at)
    ), moved AS (
      UPDATE stores SET profile = ${put(profile?.text, '::text')}, profile_hash = ${put(profile?.hash, '::text')}, is_ecommerce = ${put(state.is_ecommerce, '::boolean')},
        last_completed_scan_at = ${put(timeOf(state.observation.last_completed_scan_at), '::timestamptz')} WHERE moved_to = ${id}
    ), derivation AS (
      INSERT INTO derivations (storefront_id, state, registry_checksum)
      VALUES (${id}, ${put(JSON.stringify(write.derivation), '::jsonb')}, ${put(write.derivation.registry_checksum, '::text')})
      ON CONFLICT (storefront_id) DO UPDATE SET state = excluded.state, registry_checksum = excluded.registry_checksum
    ), forgotten AS (
      DELETE FROM store_technologies WHERE storefront_id = ${id} AND slug <> ALL (${slugs})
    ), technologies AS (
      INSERT INTO store_technologies (storefront_id, ${TECHNOLOGY_COLUMNS.join(', ')}) SELECT ${id}, * FROM unnest(${technologies})
      ON CONFLICT (storefront_id, slug) DO UPDATE SET install_state = excluded.install_state, confidence = excluded.confidence,
        first_observed_at = excluded.first_observed_at, last_confirmed_at = excluded.last_confirmed_at
    ), logged AS (
      INSERT INTO observations (storefront_id, id, scan_job_id, started_at, completed_at, scope, registry_checksum, facts, evidence)
      SELECT ${id}, ${logged} WHERE ${put(observation !== undefined, '::boolean')}
    )
    INSERT INTO signals (storefront_id, ${quoted(SIGNAL_COLUMNS)}) SELECT ${id}, * FROM unnest(${putRows(signals, SIGNAL_COLUMNS)})
    ON CONFLICT (id) DO UPDATE SET withdrawn_at = NULL, observation_id = excluded.observation_id, effective_at = excluded.effective_at,
      confirmed_at = excluded.confirmed_at, confidence = excluded.confidence`;
  return { text, values };
}

/** Types and values in the order of columns. */
function rowOfObservation(observation: Observation | undefined): (readonly [string, unknown])[] {
  const evidence = observation?.evidence === undefined ? null : JSON.stringify(observation.evidence);
  return [
    ['text', observation?.id],
    ['text', observation?.scan_job_id],
    ['timestamptz', timeOf(observation?.started_at)],
    ['timestamptz', timeOf(observation?.completed_at)],
    ['text', observation?.facts.scope],
    ['text', observation?.registry_checksum],
    ['jsonb', observation === undefined ? null : JSON.stringify(observation.facts)],
    ['jsonb', evidence],
  ];
}

export async function writeStore(transaction: Transaction, write: StoreWrite): Promise<void> {
  const { text, values } = writeStatement(write);
  await transaction.execute(text, values, { name: 'commit-observation' });
}

/** Ids of the visible signals of a store. */
export async function readSignalIds(transaction: Transaction, storefrontId: string): Promise<string[]> {
  const rows = await transaction.query<{ id: string }>(
    'SELECT id FROM signals WHERE storefront_id = $1 AND withdrawn_at IS NULL',
    [storefrontId],
  );
  return rows.map(({ id }) => id);
}

/** Copies the profile of a moved storefront to its former domain; `isBack`: the domain is a separate store again. */
export async function shareProfile(transaction: Transaction, storefrontId: string, isBack: boolean): Promise<void> {
  const copy = `UPDATE stores a SET profile = s.profile, profile_hash = s.profile_hash, is_ecommerce = s.is_ecommerce,
      last_completed_scan_at = s.last_completed_scan_at FROM stores s WHERE a.storefront_id = $1 AND s.storefront_id = a.moved_to`;
  await transaction.execute(isBack ? 'UPDATE stores SET moved_to = NULL WHERE storefront_id = $1' : copy, [storefrontId]);
}

/** Withdraws the signals of a store that its complete log does not confirm. Resolves with their types. */
export function withdrawSignals(
  transaction: Transaction,
  storefrontId: string,
  confirmed: readonly string[],
  at: number,
): Promise<Pick<Signal, 'type'>[]> {
  const text = `UPDATE signals SET withdrawn_at = $3 WHERE storefront_id = $1 AND withdrawn_at IS NULL AND id <> ALL ($2::text[])
    RETURNING type`;
  return transaction.query<Pick<Signal, 'type'>>(text, [storefrontId, confirmed, new Date(at)]);
}

/** The state of a store after its last completed observation; undefined if it had none. */
export async function readStoreState(database: Queryable, storefrontId: string): Promise<StoreState | undefined> {
  const text = `SELECT ${NAMES.join(', ')} FROM stores WHERE storefront_id = $1 AND last_completed_scan_at IS NOT NULL`;
  const [row] = await database.query(text, [storefrontId]);
  if (row === undefined) return undefined;
  const technologies = `SELECT ${TECHNOLOGY_COLUMNS.join(', ')} FROM store_technologies WHERE storefront_id = $1 ORDER BY slug`;
  return stateOf(row, await database.query<TechnologyState>(technologies, [storefrontId]));
}

/** The signals shown in a profile. */
export function readRecentSignals(database: Queryable, storefrontId: string): Promise<Signal[]> {
  const columns = quoted(SIGNAL_COLUMNS.filter((column) => column !== 'observation_id'));
  const text = `SELECT ${columns} FROM signals WHERE storefront_id = $1 AND withdrawn_at IS NULL ORDER BY confirmed_at DESC, id LIMIT ${MAX_RECENT_SIGNALS}`;
  return database.query<Signal>(text, [storefrontId]);
}

function stateOf(row: Row, technologies: readonly TechnologyState[]): StoreState {
  const { platform, catalog_as_of, product_count, available_count, currency, catalog_coverage: coverage } = row;
  const { domain, storefront_host, storefront_id, brand_group_id, name, last_completed_scan_at, scope, coverage_note } = row;
  const identity = { domain, storefront_host, storefront_id, brand_group_id, name };
  const [p25, median, p75] = [Number(row['price_p25']), Number(row['price_median']), Number(row['price_p75'])];
  const price_range = row['price_median'] === null ? null : { p25, median, p75 };
  const catalog = { product_count, available_count, currency, price_range, as_of: catalog_as_of, coverage };
  const confirmed = {
    first_observed_at: row['platform_first_observed_at'],
    last_confirmed_at: row['platform_last_confirmed_at'],
  };
  return {
    ...identity,
    technologies,
    platform: platform === null ? null : { slug: platform, confidence: row['platform_confidence'], ...confirmed },
    status: { state: row['state'], as_of: row['state_as_of'] },
    geography: { country: row['country'], basis: row['country_basis'] },
    industry: { slug: row['industry'], basis: row['industry_basis'] },
    catalog: catalog_as_of === null ? null : catalog,
    observation: { last_completed_scan_at, scope, coverage_note },
    is_ecommerce: row['is_ecommerce'],
  } as StoreState;
}

/** The columns of rows for `unnest`; numbers are times. */
function columnsOf<T extends object>(rows: readonly T[], columns: readonly (keyof T)[]): unknown[][] {
  return columns.map((column) => rows.map((row) => (typeof row[column] === 'number' ? timeOf(row[column]) : row[column])));
}

function timeOf(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}
