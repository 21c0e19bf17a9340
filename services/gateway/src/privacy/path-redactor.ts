import { scrub } from '@vitrine/privacy/scrub';
import { hasMode, type PrivacyRules } from '@vitrine/privacy/privacy-rules';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { Redactor } from '@vitrine/privacy/redactor';
import { workspaceIdOf } from '@vitrine/traces/exchange-scope';

/** Redacts a path for storage; `scope` is that of its exchange (`exchange-scope.ts`). */
export type RedactPath = (path: string, scope: string) => string;

/** Without rules: credentials are hidden. */
export const redactCredentials: RedactPath = (path) => scrub(path).text;

/** The same for paths whose traces may have to hide personal data as well. */
export function pathRedactor(rules: PrivacyRules): RedactPath {
  if (!hasMode(rules, ['redact_storage', 'redact_upstream', 'block'])) return redactCredentials;
  const context = openPrivacyContext(rules);
  return (path, scope) => new Redactor(context, workspaceIdOf(scope)).path(scrub(path).text);
}
