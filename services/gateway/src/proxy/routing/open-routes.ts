import { UpstreamPool, type UpstreamSettings } from '../upstream/upstream-pool.ts';
import type { UpstreamRoute } from '../exchange/proxy-context.ts';

const PROVIDERS = ['openai', 'anthropic'] as const;

/** The parts of the configuration that routes depend on. */
interface RouteSettings {
  readonly providers: Readonly<Record<(typeof PROVIDERS)[number], { readonly upstream: string; readonly prefix: string }>>;
  readonly proxy: UpstreamSettings;
}

/** The providers' routes, each with its connections, which end with `opened`. */
export function openRoutes(config: RouteSettings, opened: AsyncDisposableStack): UpstreamRoute[] {
  return PROVIDERS.map((provider) => {
    const { upstream, prefix } = config.providers[provider];
    const { origin, pathname } = new URL(upstream);
    const pool = opened.use(new UpstreamPool({ ...config.proxy, origin }));
    return { provider, prefix, upstreamPath: pathname.replace(/\/$/, ''), pool };
  });
}
