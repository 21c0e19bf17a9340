import { chat } from '../client-load.ts';
import type { Kubectl, PortForward } from './kubectl.ts';
import { RELEASE } from './release.ts';

/** The gateway of a release, from this machine. */
export interface GatewaySession extends AsyncDisposable {
  /** The status of a chat completion with a token. */
  send(token: string): Promise<number>;
  /** Sends until a token gets the status. */
  untilStatus(token: string, status: number, withinMs: number): Promise<void>;
}

export async function openGateway(kubectl: Kubectl): Promise<GatewaySession> {
  const forward: PortForward = await kubectl.forward(`service/${RELEASE}-gateway`, 8080);
  const send = async (token: string) =>
    (await chat(forward.url, { model: 'gpt-4o-mini', headers: { 'x-svc-gateway-key': token } })).status;
  return {
    send,
    untilStatus: async (token, status, withinMs) =>
      void (await kubectl.until(`status ${status}`, withinMs, async () => (await send(token)) === status)),
    [Symbol.asyncDispose]: () => forward[Symbol.asyncDispose](),
  };
}
