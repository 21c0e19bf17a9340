import type { Transaction } from '@vitrine/postgres/transaction';
import type { RuleIds } from '../signals/comparable.ts';
import type { LoggedObservation } from '../signals/derivation-context.ts';
import type { Detections } from '../observation/observation-facts.ts';

/** The rules of this program. */
export interface Rules {
  readonly registry_checksum: string;
  /** The id of a rule changes with the rule. */
  readonly ids: readonly string[];
  /** The detections of the rules on kept evidence; undefined for unreadable evidence. Data that the evidence lacks for these rules is missing from
   *  the channels of its pages. */
  readonly detect: (evidence: unknown) => Detections | undefined;
}

/** Detections on kept evidence, by `replayKey`. */
export type Replays = Map<string, Detections>;

export function replayKey(observation_id: string, registry_checksum: string): string {
  return `${observation_id} ${registry_checksum}`;
}

export async function saveRuleSet(transaction: Transaction, { registry_checksum, ids }: Rules): Promise<void> {
  const text = 'INSERT INTO rule_sets VALUES ($1, $2) ON CONFLICT DO NOTHING';
  await transaction.execute(text, [registry_checksum, ids]);
}

/** The rules of registries, for comparisons between them; with only one there is nothing to compare. */
export async function readRuleIds(transaction: Transaction, registry_checksums: Iterable<string>): Promise<RuleIds> {
  const checksums = [...new Set(registry_checksums)];
  if (checksums.length < 2) return () => undefined;
  const rows = await transaction.query<{ registry_checksum: string; rule_ids: string[] }>(
    'SELECT registry_checksum, rule_ids FROM rule_sets WHERE registry_checksum = ANY ($1)',
    [checksums],
  );
  const sets = new Map(rows.map(({ registry_checksum, rule_ids }) => [registry_checksum, new Set(rule_ids)]));
  return (registry_checksum) => sets.get(registry_checksum);
}

interface ReplayRow {
  readonly id: string;
  readonly registry_checksum: string;
  readonly facts: LoggedObservation['facts'];
  readonly evidence: unknown;
  readonly detections: Detections | null;
}
const SELECT_REPLAYS = `SELECT o.id, o.registry_checksum, o.facts, CASE WHEN r.detections IS NULL THEN o.evidence END AS evidence, r.detections
  FROM observations o LEFT JOIN observation_replays r ON r.observation_id = o.id AND r.registry_checksum = $2 WHERE o.id = ANY ($1)`;

/** The detections of a registry's rules on earlier observations: as stored, or computed now and stored if they are the current rules. */
export async function replayEvidence(
  transaction: Transaction,
  ids: readonly string[],
  registry_checksum: string,
  rules: Rules | undefined,
  replays: Replays,
): Promise<void> {
  if (ids.length === 0) return;
  const rows = await transaction.query<ReplayRow>(SELECT_REPLAYS, [ids, registry_checksum]);
  const fresh: { id: string; detections: Detections }[] = [];
  for (const { id, registry_checksum: own, facts, evidence, detections } of rows) {
    const canReplay = rules?.registry_checksum === registry_checksum && evidence !== null;
    const known = own === registry_checksum ? facts : detections;
    const replayed = known ?? (canReplay ? rules.detect(evidence) : undefined);
    if (replayed === undefined) continue;
    replays.set(replayKey(id, registry_checksum), replayed);
    if (known === null) fresh.push({ id, detections: replayed });
  }
  if (fresh.length === 0) return;
  const text = `INSERT INTO observation_replays SELECT id, $2, detections FROM unnest($1::text[], $3::jsonb[]) AS r (id, detections)
    ON CONFLICT DO NOTHING`;
  const json = fresh.map(({ detections }) => JSON.stringify(detections));
  await transaction.execute(text, [fresh.map(({ id }) => id), registry_checksum, json]);
}

/** All stored replays of a store. */
export async function readReplays(transaction: Transaction, storefront_id: string): Promise<Replays> {
  const rows = await transaction.query<{ observation_id: string; registry_checksum: string; detections: Detections }>(
    `SELECT r.* FROM observation_replays r JOIN observations o ON o.id = r.observation_id WHERE o.storefront_id = $1`,
    [storefront_id],
  );
  return new Map(rows.map((row) => [replayKey(row.observation_id, row.registry_checksum), row.detections]));
}
