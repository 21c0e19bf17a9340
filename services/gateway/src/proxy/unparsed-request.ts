import type { RefusedMessage } from '@vitrine/http-api/connections/client-connections';
import { ANONYMOUS_CALLER } from '../auth/caller.ts';
import type { ProxyContext } from './exchange/proxy-context.ts';
import type { Admission } from './proxy.ts';
import { rejectedExchange } from './exchange/rejected-exchange.ts';
import { routeUnder, type ProviderRoute } from './routing/request-target.ts';

/** Leaves a trace of requests below a provider's prefix that could not be parsed, such as those with too many headers (431). Of their headers
 *  nothing is trusted: with authentication on they belong to no tenant, like other anonymous requests, and so many of these
 *  a second have a trace. Spec: G11.12, G11.13. */
export function createUnparsedHandler(
  routes: readonly ProviderRoute[],
  context: Pick<ProxyContext, 'clock' | 'headers' | 'onEnd'>,
  { authenticate, anonymousRejections }: Pick<Admission, 'authenticate' | 'anonymousRejections'>,
): (refused: RefusedMessage) => void {
  return ({ line, rejection: { status }, correlationId }) => {
    if (line === undefined) return;
    const { method, target: url } = line;
    const provider = routeUnder(url, routes)?.provider;
    if (provider === undefined) return;
    const verdict = authenticate({}, 'proxy:write');
    const { scope } = 'rejection' in verdict ? verdict.caller : verdict;
    if (scope === ANONYMOUS_CALLER.scope && !anonymousRejections.take()) return;
    const of = { provider, scope, status, correlationId, now: context.clock(), credential: '' };
    context.onEnd(rejectedExchange({ method, url, headers: {}, rawHeaders: [] }, of, context.headers), undefined);
  };
}
