import type { PepperIdentity } from './pepper-identity.ts';
import { pepperProblem, type StoredPeppers } from './pepper-problem.ts';

/** The role of a pepper in this process: it creates new hashes, it is accepted, or its hashes cannot be verified for a reason. */
type PepperState = 'current' | 'accepted' | 'missing' | 'different';

export interface ListedPepper {
  readonly version: number;
  readonly state: PepperState;
  /** Hashes of tokens that are still accepted. */
  readonly hashes: number;
}

/** Peppers that are configured or in use, newest version first. One without hashes can be removed from the configuration. */
export function listedPeppers(configured: readonly PepperIdentity[], stored: StoredPeppers): ListedPepper[] {
  const versions = [...configured, ...stored.used].map(({ pepper_version }) => pepper_version);
  return [...new Set(versions)]
    .toSorted((a, b) => b - a)
    .map((version) => {
      const own = configured.filter(({ pepper_version }) => pepper_version === version);
      const used = stored.used.filter(({ pepper_version }) => pepper_version === version);
      const problem = pepperProblem(own, { recorded: stored.recorded, used });
      const isCurrent = configured[0]?.pepper_version === version;
      return { version, state: problem?.kind ?? (isCurrent ? 'current' : 'accepted'), hashes: used[0]?.hashes ?? 0 };
    });
}

const MEANINGS: Readonly<Record<PepperState, string>> = {
  current: 'current: new tokens are hashed with it',
  accepted: 'accepted: tokens move to the current one when they are used',
  missing: 'missing: its tokens cannot be verified',
  different: 'different: its secret is not the one that hashed the stored tokens',
};

export const PEPPER_HEADS: readonly string[] = ['VERSION', 'TOKENS', 'STATE'];

/** Cells of a table below `PEPPER_HEADS`. */
export function pepperCells({ version, state, hashes }: ListedPepper): string[] {
  const meaning = state === 'accepted' && hashes === 0 ? 'accepted: no token needs it any more' : MEANINGS[state];
  return [String(version), String(hashes), meaning];
}

/** Exit code of a command that lists them: 1 while some tokens cannot be verified. */
export function pepperExitCode(peppers: readonly ListedPepper[]): 0 | 1 {
  return peppers.some(({ state }) => state === 'missing' || state === 'different') ? 1 : 0;
}
