import { getPromptly } from '@vitrine/testkit/get-promptly';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TcpProxy } from './tcp-proxy.ts';

const SLOW_MS = 60_000;

/** Makes the database of a running service accept connections without ever answering until health reports it, and then answer again until health
 *  recovers. Throws unless the service responds at once, is live and ready the whole time. */
export async function endureSilence(url: string, proxy: TcpProxy): Promise<void> {
  const isAway = async () => {
    for (const path of ['/livez', '/readyz']) {
      const [status, body] = await getPromptly(url + path);
      if (status !== 200) throw new Error(`${path} responds with ${status} ${JSON.stringify(body)}`);
    }
    const [, { reasons = [] }] = await getPromptly(`${url}/api/health`);
    return JSON.stringify(reasons).includes('"database_unavailable"');
  };
  proxy.hang();
  await waitUntil(isAway, { what: 'health that says that the database is silent', timeoutMs: SLOW_MS });
  await proxy.open();
  await waitUntil(async () => !(await isAway()), { what: 'health that says nothing of the database', timeoutMs: SLOW_MS });
}
