import type { GatewayConfig } from '../../config.ts';
import { planNames, type ReadPlans } from '../../limits/plans/read-plans.ts';
import { baseUrlOf } from '../base-url.ts';

/** The result of one check of `gateway doctor`. Spec: G18.2. */
export interface Check {
  readonly name: 'config' | 'storage' | 'route_wiring' | 'auth_posture' | 'plans' | 'prices';
  /** `skip`: not run, because an earlier check failed. */
  readonly status: 'pass' | 'warn' | 'fail' | 'skip';
  /** One sentence. */
  readonly summary: string;
  readonly details: readonly string[];
}

/** Makes results of the check `name`, whose details begin with `known`. */
export function resultOf(name: Check['name'], known: readonly string[] = []) {
  return (status: Check['status'], summary: string, more: readonly string[] = []): Check => {
    return { name, status, summary, details: [...known, ...more] };
  };
}

/** The worst status of all checks: `fail`, else `warn`, else `pass`. */
export function overallStatus(checks: readonly Check[]): 'pass' | 'warn' | 'fail' {
  if (checks.some(({ status }) => status === 'fail')) return 'fail';
  return checks.some(({ status }) => status === 'warn') ? 'warn' : 'pass';
}

/** Checks whether the plans of rows and of a mounted folder can be used. */
export function checkPlans({ auth, plans }: Pick<GatewayConfig, 'auth' | 'plans'>, read: readonly ReadPlans[]): Check {
  const names = planNames(plans, read);
  const details = [`plans: ${names.length === 0 ? 'none' : names.toSorted().join(', ')}`, ...read.map(textOf)];
  const found = resultOf('plans', details);
  if (!auth.enabled && names.length > 0) return found('warn', 'plans have no effect, because auth.enabled is false');
  if (read.some(({ error }) => error !== undefined))
    return found(
      'fail',
      'not all plans can be read; a running gateway keeps the last valid ones, a restarted one starts without them',
    );
  if (read.some(({ source, document }) => source === 'directory' && document === undefined))
    return found('warn', 'the folder of limits.plans_dir has no plans.json');
  return found('pass', read.length === 0 ? 'plans come from the configuration alone' : 'the plans can be read');
}

function textOf({ source, document, error }: ReadPlans): string {
  if (document !== undefined) return `${source}: generation ${document.generation}, ${document.checksum}`;
  return `${source}: ${error ?? 'no plans.json'}`;
}

/** Shows how unknown cost counts, and which models' prices stand in for unknown ones. */
export function checkPrices({ limits, prices }: Pick<GatewayConfig, 'limits' | 'prices'>, areUnusable: boolean): Check {
  if (areUnusable) return resultOf('prices')('skip', 'skipped: the prices cannot be used');
  const models = Object.entries(prices.unknown_model).map(([provider, model]) => `${provider}: ${model}`);
  return resultOf('prices', [`limits.unknown: ${limits.unknown}`, ...models])(
    'pass',
    'these models stand in for those without a price',
  );
}

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
