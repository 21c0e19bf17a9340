import type { GatewayConfig } from '../config.ts';
import { UpstreamPool } from '../upstream/upstream-pool.ts';
import type { UpstreamRoute } from './proxy-context.ts';

/** The providers' routes, each with its connections, which end with `opened`. */
export function openRoutes(config: Pick<GatewayConfig, 'providers' | 'proxy'>, opened: AsyncDisposableStack): UpstreamRoute[] {
  return (['openai', 'anthropic'] as const).map((provider) => {
    const { upstream, prefix } = config.providers[provider];
    const { origin, pathname } = new URL(upstream);
    const pool = opened.use(new UpstreamPool({ origin, connectTimeoutMs: config.proxy.connect_timeout_ms }));
    return { provider, prefix, upstreamPath: pathname.replace(/\/$/, ''), pool };
  });
}
