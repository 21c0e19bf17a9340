import { lockByName } from '@vitrine/postgres/advisory-lock';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { PublicUrls } from '../profile/public-urls.ts';
import { renderProfile, type RenderedProfile } from '../profile/render-profile.ts';
import type { StoreState } from '../profile/store-state.ts';
import { finishScanJob } from '../scans/finish-scan-job.ts';
import type { StoreChange } from './first-observation.ts';
import type { Observation } from './observation.ts';
import { insertSignals, readRecentSignals, readStoreState, upsertStore } from './store-rows.ts';

/** What is known of a domain before an observation is committed. */
export interface KnownStore {
  readonly storefront_id: string;
  /** Undefined before the first completed observation. */
  readonly state: StoreState | undefined;
}

/** Reads a store and keeps other commits of its domain waiting until the transaction ends, whether it has a row or not. */
export async function lockStore(transaction: Transaction, domain: string): Promise<KnownStore | undefined> {
  await lockByName(transaction, `vitrine.store.${domain}`);
  const [row] = await transaction.query<{ storefront_id: string }>('SELECT storefront_id FROM stores WHERE domain = $1', [
    domain,
  ]);
  if (row === undefined) return undefined;
  return { storefront_id: row.storefront_id, state: await readStoreState(transaction, row.storefront_id) };
}

/** Writes an observation, the state and signals that follow from it, and the profile that shows them, in the caller's transaction, which has
 *  locked the store; its scan job completes. Resolves with the profile; undefined for what is no store. */
export async function commitObservation(
  transaction: Transaction,
  observation: Observation,
  { state, signals }: StoreChange,
  urls: PublicUrls,
): Promise<RenderedProfile | undefined> {
  await upsertStore(transaction, state, observation.id);
  await insertObservation(transaction, observation, state.storefront_id);
  await insertSignals(transaction, state.storefront_id, observation.id, signals);
  const { scan_job_id: id, completed_at: at } = observation;
  if (id !== null) await finishScanJob(transaction, { id, status: 'completed', error: null, at });
  return writeProfile(transaction, state, urls);
}

/** Renders the profile of a store anew, for other URLs or names. Resolves to false when it has none. */
export async function renderStoredProfile(transaction: Transaction, domain: string, urls: PublicUrls): Promise<boolean> {
  const state = (await lockStore(transaction, domain))?.state;
  return state !== undefined && (await writeProfile(transaction, state, urls)) !== undefined;
}

async function writeProfile(transaction: Transaction, state: StoreState, urls: PublicUrls): Promise<RenderedProfile | undefined> {
  const signals = state.is_ecommerce ? await readRecentSignals(transaction, state.storefront_id) : [];
  const profile = state.is_ecommerce ? renderProfile(state, signals, urls) : undefined;
  const text = 'UPDATE stores SET profile = $2, profile_hash = $3 WHERE storefront_id = $1';
  await transaction.execute(text, [state.storefront_id, profile?.text ?? null, profile?.hash ?? null]);
  return profile;
}

async function insertObservation(transaction: Transaction, observation: Observation, storefrontId: string): Promise<void> {
  const { id, scan_job_id, started_at, completed_at, facts, registry_checksum, evidence } = observation;
  const text = `INSERT INTO observations (id, storefront_id, scan_job_id, started_at, completed_at, scope, registry_checksum, facts, evidence)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
  const times = [new Date(started_at), new Date(completed_at)];
  const json = [JSON.stringify(facts), evidence === undefined ? null : JSON.stringify(evidence)];
  await transaction.execute(text, [id, storefrontId, scan_job_id, ...times, facts.scope, registry_checksum, ...json]);
}
