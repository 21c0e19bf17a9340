import { chat } from '../client-load.ts';
import type { Kubectl, PortForward } from './kubectl.ts';
import { RELEASE } from './release.ts';

/** The gateway of a release, from this machine. */
export interface GatewaySession extends AsyncDisposable {
  /** The status of a chat completion with a token. */
  send(token: string): Promise<number>;
}

export async function openGateway(kubectl: Kubectl): Promise<GatewaySession> {
  const forward: PortForward = await kubectl.forward(`service/${RELEASE}-gateway`, 8080);
  return {
    async send(token) {
      return (await chat(forward.url, { model: 'gpt-4o-mini', headers: { 'x-svc-gateway-key': token } })).status;
    },
    [Symbol.asyncDispose]: () => forward[Symbol.asyncDispose](),
  };
}
