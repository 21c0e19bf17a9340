import { scrub } from '@vitrine/privacy/scrub';
import { hasMode, type PrivacyRules } from '@vitrine/privacy/privacy-rules';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { Redactor } from '@vitrine/privacy/redactor';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';

/** Redacts the path of an exchange for storage. */
export type RedactPath = (path: string, scope: ExchangeScope) => string;

/** Without rules: credentials are hidden. */
export const redactCredentials: RedactPath = (path) => scrub(path).text;

/** The same for paths whose traces may have to hide personal data as well. */
export function pathRedactor(rules: PrivacyRules): RedactPath {
  if (!hasMode(rules, ['redact_storage', 'redact_upstream', 'block'])) return redactCredentials;
  const context = openPrivacyContext(rules);
  return (path, scope) => new Redactor(context, scope.workspace_id).path(scrub(path).text);
}
