import type { Exchange } from './traffic.ts';

/** A killed gateway loses unpublished traces: those of responses that ended within this time before. */
const LOST_WITH_GATEWAY_MS = 2_000;
/** How much later than it was sent a response may have reached its client. */
const RESPONSE_DELAY_MS = 500;
const SHOWN = 5;

export interface StoredTrace {
  /** Its correlation id; null when its bodies are missing. */
  readonly id: string | null;
  readonly tokens: number;
}

/** The state when all pipelines were idle. */
export interface Findings {
  /** Every request that was sent. */
  readonly exchanges: readonly Exchange[];
  readonly stored: readonly StoredTrace[];
  /** For each gateway, when it was killed; milliseconds since the epoch. */
  readonly killedAt: readonly (readonly number[])[];
  /** Maximum traces in the queue of a gateway. */
  readonly queueCapacity: number;
  /** Rows of each roll-up that differ from the sum of its traces. */
  readonly rollUpDifferences: ReadonlyMap<string, number>;
  /** Gateway keys whose usage of today in a gateway differs from their traces. */
  readonly quotaDifferences: readonly string[];
  /** By gateways and trace-writers. */
  readonly countedDrops: number;
  readonly deadLetters: number;
  readonly isDrained: boolean;
  readonly mayDrop: boolean;
}

export interface Verdict {
  readonly sent: number;
  readonly answered: number;
  /** Responses with another status than 200; they have traces too. */
  readonly refused: number;
  readonly inPostgres: number;
  /** Excludes traces lost with a gateway. */
  readonly missing: number;
  readonly lostWithGateway: number;
  readonly twice: number;
  /** One sentence per violation; empty without any. */
  readonly broken: readonly string[];
}

/** Compares the responses of clients with stored and counted traces. */
export function judge(findings: Findings): Verdict {
  const { exchanges, stored, countedDrops, deadLetters, mayDrop } = findings;
  const answered = exchanges.filter(({ status }) => status > 0);
  const copies = Map.groupBy(stored, ({ id }) => id);
  const absent = answered.filter(({ id }) => !copies.has(id));
  const { lost = [], missing = [] } = Object.groupBy(absent, (one) => (endedWithGateway(findings, one) ? 'lost' : 'missing'));
  const twice = [...copies].filter(([, traces]) => traces.length > 1);
  const sent = new Set<string | null>(exchanges.map(({ id }) => id));
  const unknown = [...copies.keys()].filter((id) => !sent.has(id));
  const otherTokens = answered.filter(
    ({ id, status, tokens }) => status === 200 && (copies.get(id) ?? []).some((trace) => trace.tokens !== tokens),
  );
  const mostLost = findings.queueCapacity * findings.killedAt.flat().length;
  const expectedDrops = mayDrop ? missing.length : 0;
  return {
    sent: exchanges.length,
    answered: answered.length,
    refused: answered.filter(({ status }) => status !== 200).length,
    inPostgres: stored.length,
    missing: missing.length,
    lostWithGateway: lost.length,
    twice: twice.length,
    broken: [
      ...rule(!findings.isDrained, 'traces were still under way when the wait for them ended'),
      ...rule(answered.length === 0, 'no exchange got a response'),
      ...rule(missing.length > expectedDrops, `${missing.length} exchanges have no trace: ${shown(missing)}`),
      ...rule(lost.length > mostLost, `${lost.length} traces were lost with gateways, whose queues hold ${mostLost}`),
      ...rule(
        countedDrops !== expectedDrops,
        `${countedDrops} traces were counted as dropped, and ${missing.length} are missing`,
      ),
      ...rule(twice.length > 0, `${twice.length} exchanges have several traces: ${shown(twice.map(([id]) => ({ id })))}`),
      ...rule(unknown.length > 0, `${unknown.length} traces belong to no request: ${shown(unknown.map((id) => ({ id })))}`),
      ...rule(otherTokens.length > 0, `${otherTokens.length} traces have other tokens than the response: ${shown(otherTokens)}`),
      ...[...findings.rollUpDifferences].flatMap(([table, rows]) =>
        rule(rows > 0, `${table}: ${rows} rows differ from the sums of traces`),
      ),
      ...rule(
        findings.quotaDifferences.length > 0,
        `quotas count other usage than traces have: ${findings.quotaDifferences.join(', ')}`,
      ),
      ...rule(deadLetters > 0, `${deadLetters} records are in the dead letter topic`),
    ],
  };
}

function rule(isBroken: boolean, text: string): string[] {
  return isBroken ? [text] : [];
}

function endedWithGateway({ killedAt }: Findings, { gateway, endedAt }: Exchange): boolean {
  return (killedAt[gateway] ?? []).some((at) => endedAt > at - LOST_WITH_GATEWAY_MS && endedAt < at + RESPONSE_DELAY_MS);
}

function shown(items: readonly { readonly id: string | null }[]): string {
  const ids = items.slice(0, SHOWN).map(({ id }) => id ?? 'without bodies');
  return ids.join(', ') + (items.length > SHOWN ? ', ...' : '');
}
