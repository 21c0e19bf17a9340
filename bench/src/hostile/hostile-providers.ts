import { RESPONSE_KINDS, idsMarkedIn, type HostileResponse } from './hostile-responses.ts';
import { pathOf } from './hostile-requests.ts';
import type { HostileSession, HostileSide } from './hostile-session.ts';
import { randomOf } from './random.ts';
import { rawExchange } from './raw-connection.ts';
import { storedPaths } from './stored-paths.ts';
import { readResponsesStrictly } from './strict-responses.ts';

const KINDS = Object.entries(RESPONSE_KINDS);
/** Longer than the gateway waits for a provider. */
const PATIENCE_MS = 10_000;
const BODY = '{"model":"gpt-4o-mini","messages":[]}';

/** The provider's response to a request for `target`. */
export function hostileResponse(seed: number, target: string): HostileResponse {
  const id = Number(/\/hostile\/(\d+)\./.exec(target)?.[1] ?? 0);
  const [, make] = KINDS[id % KINDS.length] ?? KINDS[0]!;
  return make(randomOf(seed, id), id);
}

/** Correct clients with a provider that responds with arbitrary bytes. */
export function hostileProviders(session: HostileSession, port: number, seed: number, concurrency: number): HostileSide {
  const sent: string[] = [];
  return {
    name: 'responses',
    concurrency,
    async play(id, tally) {
      const [kind] = KINDS[id % KINDS.length] ?? KINDS[0]!;
      const path = pathOf(id);
      sent.push(path);
      const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer sk-fuzz\r\nContent-Type: application/json\r\nConnection: close\r\n`;
      const request = Buffer.from(`${head}Content-Length: ${BODY.length}\r\n\r\n${BODY}`, 'latin1');
      const exchange = await rawExchange(port, request, { ending: 'wait', patienceMs: PATIENCE_MS, isEnough: () => false });
      const { statuses, fault, isCut, bodies } = readResponsesStrictly(exchange.text, exchange.isClosed);
      const where = `seed ${seed}, case ${id} (${kind}): ${JSON.stringify(exchange.text.slice(0, 300))}`;
      if (fault !== undefined) session.found('a response that is not HTTP', `${fault}; ${where}`);
      if (!exchange.isClosed) session.found('a client that waits for ever', where);
      if (statuses.length > 1) session.found('more than one response', where);
      const foreignIds = idsMarkedIn(exchange.text).filter((marked) => marked !== id);
      if (foreignIds.length > 0) session.found('a response to another request', `${foreignIds.join()}; ${where}`);
      if (bodies.some((body) => body.includes('internal'))) session.found('an error of our own', where);
      tally(kind, 'sent');
      tally(kind, statuses.length > 0 ? `status ${statuses[0]}` : isCut ? 'cut' : 'closed');
    },
    async check(traces) {
      const stored = await storedPaths(`http://127.0.0.1:${port}`, traces);
      for (const path of sent.splice(0)) {
        const kept = stored.get(path)?.length ?? 0;
        if (kept !== 1) session.found('not one trace of an exchange', `${path}: ${kept}`);
      }
    },
  };
}
