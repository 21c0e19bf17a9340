import { parseArgs } from 'node:util';
import type { StoreLoadOrder } from './load.ts';

type LoadKind = StoreLoadOrder['kind'] | 'crowd';

export interface StoreApiPlan {
  readonly stores: number;
  readonly ledgerRows: number;
  readonly rounds: number;
  /** Of one load. */
  readonly seconds: number;
  /** Keeps the database for another run; undefined: none. */
  readonly folder: string | undefined;
  /** Which loads; undefined: all. */
  readonly only: LoadKind | undefined;
}

export const STORE_API_OPTIONS = [
  ['--stores N', 'stores to load (default 1000000)'],
  ['--ledger N', 'ledger rows to load (default 5000000)'],
  ['--rounds N', 'rounds of each load, service and baseline in turn (default 5)'],
  ['--seconds N', 'seconds of each load (default 4)'],
  ['--only KIND', 'get, enrich or crowd (default all)'],
  ['--file FOLDER', 'keep the database there; one that has stores is used as it is'],
] as const;

/** Reads the options of `bench store-api`. */
export function readStoreApiPlan(args: readonly string[]): StoreApiPlan | { readonly problem: string } {
  try {
    const text = { type: 'string' } as const;
    const options = { stores: text, ledger: text, rounds: text, seconds: text, only: text, file: text };
    const { values } = parseArgs({ args: [...args], options });
    return {
      stores: whole('--stores', values.stores ?? '1000000', 1_000),
      ledgerRows: whole('--ledger', values.ledger ?? '5000000', 0),
      rounds: whole('--rounds', values.rounds ?? '5', 1),
      seconds: whole('--seconds', values.seconds ?? '4', 1),
      folder: values.file,
      only: kindOf(values.only),
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function kindOf(text: string | undefined): LoadKind | undefined {
  if (text === undefined || text === 'get' || text === 'enrich' || text === 'crowd') return text;
  throw new Error('--only must be get, enrich or crowd.');
}

function whole(name: string, text: string, min: number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < min) throw new Error(`${name} must be a whole number from ${min}.`);
  return value;
}
