import { openPrivacyContext } from './privacy-context.ts';
import { hasMode, type PrivacyRules } from './privacy-rules.ts';
import { Redactor } from './redactor.ts';
import { scrub } from './scrub.ts';

/** Redacts the path of an exchange for storage. */
export type RedactPath = (path: string, scope: { readonly workspace_id: string }) => string;

/** Without rules, only credentials are hidden. */
export const redactCredentials: RedactPath = (path) => scrub(path).text;

/** The same for paths whose traces may also have to hide personal data. */
export function pathRedactor(rules: PrivacyRules): RedactPath {
  if (!hasMode(rules, ['redact_storage', 'redact_upstream', 'block'])) return redactCredentials;
  const context = openPrivacyContext(rules);
  return (path, scope) => new Redactor(context, scope.workspace_id).path(scrub(path).text);
}
