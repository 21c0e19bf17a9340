/** Detectors of personal data and secrets, each switched by itself. */
export const DETECTORS = ['email', 'phone', 'ssn', 'token_like'] as const;
export type Detector = (typeof DETECTORS)[number];

/** Kinds of findings: those of detectors, and headers and fields that are redacted because of their names. */
export const FINDING_KINDS = ['header', ...DETECTORS, 'field_name'] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** Counts by kind. Spec: G4.27. */
export type FindingCounts = Record<FindingKind, number>;

export function noFindings(): FindingCounts {
  return { header: 0, email: 0, phone: 0, ssn: 0, token_like: 0, field_name: 0 };
}

export function addFindings(to: FindingCounts, more: FindingCounts): void {
  for (const kind of FINDING_KINDS) to[kind] += more[kind];
}

export function addKinds(to: FindingCounts, kinds: readonly FindingKind[]): void {
  for (const kind of kinds) to[kind] += 1;
}

export function hasFindings(counts: FindingCounts): boolean {
  return FINDING_KINDS.some((kind) => counts[kind] > 0);
}

/** Serializes counts for another thread. */
export function findingsText(counts: FindingCounts): string {
  return FINDING_KINDS.map((kind) => counts[kind]).join();
}

/** Parses the counts of `findingsText`. */
export function readFindings(text: string): FindingCounts {
  const counts = noFindings();
  for (const [at, count] of text.split(',').entries()) {
    const kind = FINDING_KINDS[at];
    if (kind !== undefined) counts[kind] = Number(count);
  }
  return counts;
}
