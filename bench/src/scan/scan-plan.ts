import { parseArgs } from 'node:util';
import { whole } from '../proxy/proxy-plan.ts';

export interface ScanPlan {
  /** Storefronts, each scanned once in a round. */
  readonly storefronts: number;
  readonly rounds: number;
  readonly pageBytes: number;
  /** How often each page is detected. */
  readonly repeats: number;
}

export const SCAN_OPTIONS = [
  ['--storefronts N', 'storefronts that are scanned in a round (default 100)'],
  ['--rounds N', 'rounds of scans and of bare fetches, one after the other; 0: only detection (default 5)'],
  ['--page-bytes N', 'size of a page (default 102400)'],
  ['--repeats N', 'times that each page is detected (default 60)'],
] as const;

/** Reads the options of `bench scan`. */
export function readScanPlan(args: readonly string[]): ScanPlan | { readonly problem: string } {
  try {
    const text = { type: 'string' } as const;
    const options = { storefronts: text, rounds: text, 'page-bytes': text, repeats: text };
    const { values } = parseArgs({ args: [...args], options });
    return {
      storefronts: whole('--storefronts', values.storefronts ?? '100', 1),
      rounds: whole('--rounds', values.rounds ?? '5', 0),
      pageBytes: whole('--page-bytes', values['page-bytes'] ?? '102400', 1_024),
      repeats: whole('--repeats', values.repeats ?? '60', 1),
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
