import { Pool } from 'undici';
import type { GatewayConfig } from '../config.ts';
import type { UpstreamRoute } from './exchange.ts';

/** The providers' routes, each with its connections, which end with `opened`. */
export function openRoutes(config: Pick<GatewayConfig, 'providers' | 'proxy'>, opened: AsyncDisposableStack): UpstreamRoute[] {
  return (['openai', 'anthropic'] as const).map((provider) => {
    const { upstream, prefix } = config.providers[provider];
    const { origin, pathname } = new URL(upstream);
    // Deadlines are ours (see Deadlines). Connections are as many as requests in flight, which the proxy bounds.
    const pool = new Pool(origin, {
      connections: null,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: config.proxy.connect_timeout_ms },
    });
    opened.defer(() => pool.destroy());
    return { provider, prefix, upstreamPath: pathname.replace(/\/$/, ''), pool };
  });
}
