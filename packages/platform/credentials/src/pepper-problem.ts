import type { PepperIdentity } from './pepper-identity.ts';

/** The peppers of the hashes in a store. */
export interface StoredPeppers {
  readonly recorded: readonly PepperIdentity[];
  /** Number of hashes of accepted tokens, by version. */
  readonly used: readonly PepperUse[];
}

export interface PepperUse {
  readonly pepper_version: number;
  readonly hashes: number;
}

/** Why some stored tokens cannot be verified: the pepper of a version is not configured, or its secret differs from the one that hashed them. */
export interface PepperProblem {
  readonly kind: 'missing' | 'different';
  readonly pepper_version: number;
  /** Tokens that cannot be verified. */
  readonly hashes: number;
}

/** The first problem of a process with these peppers. A different secret comes first, because new hashes under it would make the problem worse. */
export function pepperProblem(
  configured: readonly PepperIdentity[],
  { recorded, used }: StoredPeppers,
): PepperProblem | undefined {
  const hashesOf = (version: number) => used.find(({ pepper_version }) => pepper_version === version)?.hashes ?? 0;
  const byVersion = new Map(configured.map((one) => [one.pepper_version, one.pepper_fingerprint]));
  for (const { pepper_version, pepper_fingerprint } of recorded) {
    const own = byVersion.get(pepper_version);
    if (own !== undefined && own !== pepper_fingerprint)
      return { kind: 'different', pepper_version, hashes: hashesOf(pepper_version) };
  }
  const missing = used.find(({ pepper_version, hashes }) => hashes > 0 && !byVersion.has(pepper_version));
  return missing && { kind: 'missing', ...missing };
}

/** A sentence for people, without secrets. */
export function pepperProblemText({ kind, pepper_version, hashes }: PepperProblem): string {
  const tokens = `${hashes} ${hashes === 1 ? 'token' : 'tokens'}`;
  if (kind === 'missing') return `the pepper of version ${pepper_version} is missing: ${tokens} cannot be verified without it`;
  return `the pepper of version ${pepper_version} is not the one that hashed the stored tokens: ${tokens} cannot be verified with it`;
}
