import type { Queryable, Row } from '@vitrine/postgres/connection';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { Signal, StoreState, TechnologyState } from '../profile/store-state.ts';
import { MAX_RECENT_SIGNALS } from '../resources/store.ts';

/** Columns of `stores` that a state fills, each with its value. */
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
const UPSERT = `INSERT INTO stores AS s (${NAMES.join(', ')}, last_observation_id, first_observed_at)
  VALUES (${NAMES.map((_, i) => `$${i + 1}`).join(', ')}, $${NAMES.length + 1}, $${NAMES.length + 2})
  ON CONFLICT (storefront_id) DO UPDATE SET ${[...NAMES, 'last_observation_id'].map((name) => `${name} = excluded.${name}`).join(', ')},
    first_observed_at = least(s.first_observed_at, excluded.first_observed_at)`;

const TECHNOLOGY_COLUMNS = ['slug', 'install_state', 'confidence', 'first_observed_at', 'last_confirmed_at'] as const;
const UPSERT_TECHNOLOGIES = `INSERT INTO store_technologies (storefront_id, ${TECHNOLOGY_COLUMNS.join(', ')})
  SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])
  ON CONFLICT (storefront_id, slug) DO UPDATE SET install_state = excluded.install_state, confidence = excluded.confidence,
    first_observed_at = excluded.first_observed_at, last_confirmed_at = excluded.last_confirmed_at`;

const SIGNAL_COLUMNS = ['id', 'type', 'technology', 'from', 'to', 'effective_at', 'confirmed_at', 'confidence'] as const;
const QUOTED = SIGNAL_COLUMNS.map((column) => `"${column}"`).join(', ');
/** A signal that is there already is the same signal. */
const INSERT_SIGNALS = `INSERT INTO signals (storefront_id, observation_id, ${QUOTED})
  SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::timestamptz[], $10::text[])
  ON CONFLICT (id) DO NOTHING`;

export async function upsertStore(transaction: Transaction, state: StoreState, observationId: string): Promise<void> {
  const values = NAMES.map((name) => COLUMNS[name]?.(state) ?? null);
  await transaction.execute(UPSERT, [...values, observationId, timeOf(state.observation.last_completed_scan_at)]);
  await transaction.execute(UPSERT_TECHNOLOGIES, [state.storefront_id, ...columnsOf(state.technologies, TECHNOLOGY_COLUMNS)]);
}

export async function insertSignals(
  transaction: Transaction,
  storefrontId: string,
  observationId: string,
  signals: readonly Signal[],
): Promise<void> {
  if (signals.length === 0) return;
  await transaction.execute(INSERT_SIGNALS, [storefrontId, observationId, ...columnsOf(signals, SIGNAL_COLUMNS)]);
}

/** The state of a store after its last completed observation; undefined when it had none. */
export async function readStoreState(database: Queryable, storefrontId: string): Promise<StoreState | undefined> {
  const text = `SELECT ${NAMES.join(', ')} FROM stores WHERE storefront_id = $1 AND last_completed_scan_at IS NOT NULL`;
  const [row] = await database.query(text, [storefrontId]);
  if (row === undefined) return undefined;
  const technologies = `SELECT ${TECHNOLOGY_COLUMNS.join(', ')} FROM store_technologies WHERE storefront_id = $1 ORDER BY slug`;
  return stateOf(row, await database.query<TechnologyState>(technologies, [storefrontId]));
}

/** Those that a profile shows. */
export function readRecentSignals(database: Queryable, storefrontId: string): Promise<Signal[]> {
  const text = `SELECT ${QUOTED} FROM signals WHERE storefront_id = $1 ORDER BY confirmed_at DESC, id LIMIT ${MAX_RECENT_SIGNALS}`;
  return database.query<Signal>(text, [storefrontId]);
}

function stateOf(row: Row, technologies: readonly TechnologyState[]): StoreState {
  const { platform, catalog_as_of, price_median, product_count, available_count, currency, ...others } = row;
  const platformDates = {
    first_observed_at: row['platform_first_observed_at'],
    last_confirmed_at: row['platform_last_confirmed_at'],
  };
  const range = { p25: Number(row['price_p25']), median: Number(price_median), p75: Number(row['price_p75']) };
  return {
    domain: others['domain'],
    storefront_host: others['storefront_host'],
    storefront_id: others['storefront_id'],
    brand_group_id: others['brand_group_id'],
    name: others['name'],
    platform: platform === null ? null : { slug: platform, confidence: others['platform_confidence'], ...platformDates },
    status: { state: others['state'], as_of: others['state_as_of'] },
    technologies,
    geography: { country: others['country'], basis: others['country_basis'] },
    industry: { slug: others['industry'], basis: others['industry_basis'] },
    catalog:
      catalog_as_of === null
        ? null
        : {
            product_count,
            available_count,
            currency,
            price_range: price_median === null ? null : range,
            as_of: catalog_as_of,
            coverage: others['catalog_coverage'],
          },
    observation: {
      last_completed_scan_at: others['last_completed_scan_at'],
      scope: others['scope'],
      coverage_note: others['coverage_note'],
    },
    is_ecommerce: others['is_ecommerce'],
  } as StoreState;
}

/** The columns of rows, as `unnest` takes them; numbers are times. */
function columnsOf<T extends object>(rows: readonly T[], columns: readonly (keyof T)[]): unknown[][] {
  return columns.map((column) => rows.map((row) => (typeof row[column] === 'number' ? timeOf(row[column]) : row[column])));
}

function timeOf(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}
