import { rawExchange } from './raw-connection.ts';
import { REQUEST_KINDS, SMUGGLED } from './hostile-requests.ts';
import type { HostileProvider } from './hostile-provider.ts';
import type { HostileSession, HostileSide } from './hostile-session.ts';
import { randomOf } from './random.ts';
import { storedPaths } from './stored-paths.ts';
import { readResponsesStrictly } from './strict-responses.ts';
import { readStrictly } from './strict-requests.ts';

const PREFIX = '/openai';
/** The gateway responds within a millisecond or two; an incomplete request needs no longer wait. */
const PATIENCE_MS = 250;
const KINDS = Object.entries(REQUEST_KINDS);

/** Hostile clients with a correct provider. */
export function hostileClients(
  session: HostileSession,
  port: number,
  provider: HostileProvider,
  seed: number,
  concurrency: number,
): HostileSide {
  /** The targets of complete requests for a strict reader. The provider must see no other. */
  const allowed = new Set<string>();
  /** Requests with a response, which therefore must have a trace. */
  const responded: string[] = [];
  return {
    name: 'requests',
    concurrency,
    async play(id, tally) {
      const [kind, make] = KINDS[id % KINDS.length] ?? KINDS[0]!;
      const { bytes, ending } = make(randomOf(seed, id), id);
      const text = bytes.toString('latin1');
      const strict = readStrictly(text);
      for (const { target } of strict.whole) allowed.add(target);
      const exchange = await rawExchange(port, bytes, {
        ending,
        patienceMs: PATIENCE_MS,
        // Allows time for the forwarding of requests that a lenient reader would still find.
        isEnough: (come) =>
          strict.refusal === undefined &&
          strict.whole.length > 0 &&
          readResponsesStrictly(come, false).statuses.length >= strict.whole.length,
      });
      const { statuses, fault } = readResponsesStrictly(exchange.text, exchange.isClosed);
      const where = `seed ${seed}, case ${id} (${kind}): ${JSON.stringify(text.slice(0, 300))}`;
      if (fault !== undefined) session.found('a response that is not HTTP', `${fault}; ${where}`);
      if (statuses.some((status) => status >= 500 && status !== 503))
        session.found('a server error', `${statuses.join()}; ${where}`);
      tally(kind, 'sent');
      tally(kind, statuses.length === 0 ? `no response${exchange.isClosed ? ', closed' : ''}` : `status ${statuses[0]}`);
      tally(
        kind,
        strict.refusal === undefined ? (strict.whole.length > 0 ? 'sound' : 'cut') : `strictly refused: ${strict.refusal}`,
      );
      for (const [n, { target }] of strict.whole.entries())
        if (target.startsWith(`${PREFIX}/v1/hostile/`) && isOfExchange(statuses[n])) responded.push(target);
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
      for (const [target, seen] of counted(responded)) {
        const kept = stored.get(target)?.length ?? 0;
        if (kept < seen) session.found('a request with a response but no trace', `${target}: ${seen} responses, ${kept} stored`);
      }
      allowed.clear();
      responded.length = 0;
    },
  };
}

/** Whether a response of this status comes from an exchange and not from the parser, which may be stricter. */
function isOfExchange(status: number | undefined): boolean {
  return status !== undefined && ![400, 405, 408, 417, 431, 505].includes(status);
}

function counted(of: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of of) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}
