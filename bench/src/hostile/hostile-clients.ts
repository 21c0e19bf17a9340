import { rawTalk } from './raw-connection.ts';
import { REQUEST_KINDS, SMUGGLED } from './hostile-requests.ts';
import type { HostileProvider } from './hostile-provider.ts';
import type { HostileSession, HostileSide } from './hostile-session.ts';
import { randomOf } from './random.ts';
import { storedPaths } from './stored-paths.ts';
import { readResponsesStrictly } from './strict-responses.ts';
import { readStrictly } from './strict-requests.ts';

const PREFIX = '/openai';
/** What the gateway answers takes a millisecond or two; for what it still waits for, nobody has to wait. */
const PATIENCE_MS = 250;
const KINDS = Object.entries(REQUEST_KINDS);

/** Clients of bad will against a provider that answers. */
export function hostileClients(
  session: HostileSession,
  port: number,
  provider: HostileProvider,
  seed: number,
  concurrency: number,
): HostileSide {
  /** What a strict reader takes for a whole request, by what the provider should see of it. */
  const allowed = new Set<string>();
  /** Requests whose answer came, which therefore must have a trace. */
  const answered: string[] = [];
  return {
    name: 'requests',
    concurrency,
    async play(id, tally) {
      const [kind, make] = KINDS[id % KINDS.length] ?? KINDS[0]!;
      const { bytes, ending } = make(randomOf(seed, id), id);
      const text = bytes.toString('latin1');
      const strict = readStrictly(text);
      for (const { target } of strict.whole) allowed.add(target);
      const talk = await rawTalk(port, bytes, {
        ending,
        patienceMs: PATIENCE_MS,
        // Whatever a lenient reader would still find is given the time to be forwarded.
        isEnough: (come) =>
          strict.refusal === undefined &&
          strict.whole.length > 0 &&
          readResponsesStrictly(come, false).statuses.length >= strict.whole.length,
      });
      const { statuses, fault } = readResponsesStrictly(talk.text, talk.isClosed);
      const where = `seed ${seed}, case ${id} (${kind}): ${JSON.stringify(text.slice(0, 300))}`;
      if (fault !== undefined) session.found('an answer that is no HTTP', `${fault}; ${where}`);
      if (statuses.some((status) => status >= 500 && status !== 501 && status !== 503))
        session.found('a server error', `${statuses.join()}; ${where}`);
      tally(kind, 'sent');
      tally(kind, statuses.length === 0 ? `no answer${talk.isClosed ? ', closed' : ''}` : `answered ${statuses[0]}`);
      tally(
        kind,
        strict.refusal === undefined ? (strict.whole.length > 0 ? 'sound' : 'cut') : `strictly refused: ${strict.refusal}`,
      );
      for (const [n, { target }] of strict.whole.entries())
        if (target.startsWith(`${PREFIX}/v1/hostile/`) && isOfExchange(statuses[n])) answered.push(target);
    },
    async check(traces) {
      const stored = await storedPaths(`http://127.0.0.1:${port}`, traces);
      for (const target of provider.whole) {
        if (target.includes(SMUGGLED.slice(PREFIX.length)) && !allowed.has(PREFIX + target))
          session.found('a smuggled request was forwarded', target);
        else if (!allowed.has(PREFIX + target))
          session.found('a request was forwarded that a strict reader does not find', target);
      }
      for (const [target, seen] of counted(provider.begun.map((path) => PREFIX + path))) {
        const kept = stored.get(target)?.length ?? 0;
        if (kept < seen) session.found('an exchange without a trace', `${target}: the provider saw ${seen}, stored ${kept}`);
      }
      for (const [target, seen] of counted(answered)) {
        const kept = stored.get(target)?.length ?? 0;
        if (kept < seen) session.found('an answered request without a trace', `${target}: ${seen} answered, ${kept} stored`);
      }
      allowed.clear();
      answered.length = 0;
    },
  };
}

/** Whether an answer of this status is that of an exchange, and not of the parser, which may know less than the strict reader. */
function isOfExchange(status: number | undefined): boolean {
  return status !== undefined && ![400, 405, 408, 417, 431].includes(status);
}

function counted(of: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of of) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}
