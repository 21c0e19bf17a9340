import type { Provider } from '@vitrine/traces/trace';

/** A provider's route prefix on the gateway and its upstream. */
export interface ProviderRoute {
  readonly provider: Provider;
  /** Such as `/openai`. */
  readonly prefix: string;
  /** Path of the configured upstream URL without a slash at its end; usually ''. */
  readonly upstreamPath: string;
}

export type RequestTarget<R extends ProviderRoute> =
  | { readonly kind: 'upstream'; readonly route: R; readonly path: string }
  | { readonly kind: 'refused'; readonly route: R | undefined; readonly reason: string }
  | { readonly kind: 'other' };

// Anything that could make an upstream see another path than the one checked here. This single test accepts most paths.
const SUSPICIOUS = /[\\#]|\/\/|\/\.|%2e|%2f|%5c/i;

/** Decides where a request goes by its target as received. Refuses dot segments (also percent-encoded), `//`, backslashes, fragments and
 *  absolute-form. A prefix matches on a path boundary only. Spec: G11.2. */
export function readTarget<R extends ProviderRoute>(target: string, routes: readonly R[]): RequestTarget<R> {
  if (!target.startsWith('/')) {
    return target === '*'
      ? { kind: 'other' }
      : { kind: 'refused', route: undefined, reason: 'the request target must be a path' };
  }
  const route = routeUnder(target, routes);
  const end = target.indexOf('?');
  const path = end === -1 ? target : target.slice(0, end);
  const reason = SUSPICIOUS.test(path) ? rejectionReason(path) : undefined;
  if (reason !== undefined) return { kind: 'refused', route, reason };
  if (route === undefined) return { kind: 'other' };
  const rest = target.slice(route.prefix.length);
  return { kind: 'upstream', route, path: route.upstreamPath + (rest.startsWith('/') ? rest : `/${rest}`) };
}

/** The route of a target, whether or not the target is allowed. */
export function routeUnder<R extends ProviderRoute>(target: string, routes: readonly R[]): R | undefined {
  return routes.find(({ prefix }) => isUnder(target, prefix));
}

function isUnder(target: string, prefix: string): boolean {
  if (!target.startsWith(prefix)) return false;
  const next = target[prefix.length];
  return next === undefined || next === '/' || next === '?';
}

function rejectionReason(path: string): string | undefined {
  const plain = path.replace(/%2e/gi, '.').replace(/%2f/gi, '/').replace(/%5c/gi, '\\');
  if (plain.includes('\\')) return 'the request path must not contain a backslash';
  if (plain.includes('#')) return 'the request target must not contain a fragment';
  // Such a path is 404 in the admin API, like every unknown path.
  if (plain.includes('//') && !plain.startsWith('/api/')) return 'the request path must not contain //';
  if (plain.split('/').some((segment) => segment === '.' || segment === '..'))
    return 'the request path must not contain dot segments';
  return undefined;
}
