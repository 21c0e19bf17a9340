import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { SharedGatewaySettings } from '../../testing/shared-gateway-process.ts';

/** A gateway in a process of its own. */
export interface SharedGateway extends AsyncDisposable {
  readonly url: string;
  /** Like `kill -9`. */
  readonly kill: () => Promise<void>;
}

export async function forkGateway(settings: SharedGatewaySettings): Promise<SharedGateway> {
  const program = new URL('../../testing/shared-gateway-process.ts', import.meta.url);
  const child = fork(program, [JSON.stringify(settings)], { execArgv: [] });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  const [message] = (await once(child, 'message')) as [{ url: string }];
  return { url: message.url, kill, [Symbol.asyncDispose]: kill };
}

export interface LoadOptions {
  readonly gateways: readonly SharedGateway[];
  readonly clients: number;
  /** Between two requests of a client. */
  readonly pauseMs: number;
  readonly token: string;
}

export interface LoadResult {
  /** Undefined when there was no response. */
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly sentAt: number;
}

/** Starts clients that send one request after the other, and switch to another gateway when theirs is gone. Returns a function that stops them. */
export function startClients(load: LoadOptions, onResult: (result: LoadResult) => void): () => Promise<void> {
  const { gateways, clients, pauseMs, token } = load;
  const stop = new AbortController();
  const client = async (number: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await wait((pauseMs * number) / clients);
    for (let at = number; !stop.signal.aborted;) {
      const result = await send(gateways[at % gateways.length]?.url ?? '', token, agent);
      onResult(result);
      if (result.status === undefined) at += 1;
      await wait(pauseMs);
    }
    agent.destroy();
  };
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return async () => {
    stop.abort();
    await running;
  };
}

function send(url: string, token: string, agent: Agent): Promise<LoadResult> {
  const { promise, resolve } = Promise.withResolvers<LoadResult>();
  const sentAt = performance.now();
  const fail = () => resolve({ status: undefined, headers: {}, sentAt });
  const headers = { 'x-svc-gateway-key': token, authorization: 'Bearer sk-canary', 'content-type': 'application/json' };
  const sent = request(`${url}/openai/v1/chat/completions`, { method: 'POST', headers, agent }, (response) => {
    response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, sentAt })).on('error', fail);
    response.resume();
  });
  sent.on('error', fail);
  sent.end('{"model":"gpt-4o-mini","messages":[{"role":"user","content":"hi"}]}');
  return promise;
}
