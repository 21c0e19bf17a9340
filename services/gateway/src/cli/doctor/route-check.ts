import { baseUrlOf } from '../base-url.ts';
import type { GatewayConfig } from '../../config.ts';
import { resultOf, type Check } from './check.ts';

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Checks where requests for the providers go. The configuration's own rules check that prefixes do not overlap each other or `/api`. */
export function checkRoutes(config: Pick<GatewayConfig, 'server' | 'providers'>): Check {
  const routes = Object.entries(config.providers);
  const details = routes.map(([name, { prefix, upstream }]) => `${name}: ${prefix}/* -> ${upstream}`);
  const found = resultOf('route_wiring', details);
  const own = baseUrlOf(config);
  const loops = routes.filter(([, { upstream }]) => own !== undefined && isSame(upstream, own));
  if (loops.length > 0) return found('fail', `${namesOf(loops)} would be sent to the gateway itself`);
  const open = routes.filter(([, { upstream }]) => upstream.startsWith('http:') && !LOOPBACK.test(new URL(upstream).hostname));
  if (open.length > 0) return found('warn', `credentials for ${namesOf(open)} are sent unencrypted: the upstream is http://`);
  return found('pass', 'requests are sent to the upstreams of the providers');
}

function isSame(upstream: string, own: string): boolean {
  const [there, here] = [new URL(upstream), new URL(own)];
  const sameHost = there.hostname === here.hostname || (LOOPBACK.test(there.hostname) && LOOPBACK.test(here.hostname));
  return sameHost && there.protocol === 'http:' && (there.port || '80') === (here.port || '80');
}

function namesOf(routes: readonly (readonly [string, unknown])[]): string {
  return routes.map(([name]) => name).join(' and ');
}
