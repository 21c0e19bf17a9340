import { policyFor, type PrivacyPolicy, type PrivacyRules } from '@vitrine/privacy/privacy-rules';
import type { CapturedExchange } from './captured-exchange.ts';

/** The privacy policy of an exchange. Most rules hold for all exchanges; then it is not looked at. */
export function exchangePolicy(
  rules: PrivacyRules,
  { scope, provider, path }: Pick<CapturedExchange, 'scope' | 'provider' | 'path'>,
): PrivacyPolicy {
  return rules.scopes.length === 0 ? rules : policyFor(rules, { ...scope, provider, path });
}
