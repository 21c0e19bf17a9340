import { chat } from '../client-load.ts';
import { GATEWAY_KEYS } from './gateway-keys.ts';
import type { Pipeline } from './pipeline.ts';

/** Gateway keys whose usage of today differs from the sum of their traces, tested by the behaviour of a gateway: it rejects a request
 *  when that sum is
 *  the daily limit, and admits one when the limit is a token more. */
export async function quotaDifferences(pipeline: Pipeline): Promise<readonly string[]> {
  const rows = await pipeline.database.query<{ readonly id: string; readonly tokens: string }>(
    `SELECT gateway_key_id AS id, sum(total_tokens)::text AS tokens FROM traces
     WHERE (created_at AT TIME ZONE 'UTC')::date = (now() AT TIME ZONE 'UTC')::date GROUP BY 1 HAVING sum(total_tokens) > 0`,
  );
  const used = new Map(rows.map(({ id, tokens }) => [id, Number(tokens)]));
  const above = new Map([...used].map(([id, tokens]) => [id, tokens + 1]));
  const [reached, below] = await Promise.all([statusesWith(pipeline, used), statusesWith(pipeline, above)]);
  return [...used.keys()].flatMap((id) => {
    const isRight = reached.get(id) === 429 && below.get(id) === 200;
    return isRight ? [] : [`${id} (${reached.get(id)} at ${used.get(id)} tokens, ${below.get(id)} below)`];
  });
}

/** The status of one request with each gateway key under these daily limits. */
async function statusesWith(pipeline: Pipeline, tokensPerDay: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
  await using gateway = await pipeline.startGatewayWithLimits(tokensPerDay);
  const statuses = new Map<string, number>();
  for (const { id, token } of GATEWAY_KEYS.filter(({ id }) => tokensPerDay.has(id))) {
    const { status } = await chat(gateway.url, { model: 'gpt-4o-mini', headers: { 'x-svc-gateway-key': token } });
    statuses.set(id, status);
  }
  return statuses;
}
