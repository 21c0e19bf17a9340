import { scrub } from '@vitrine/telemetry/scrub';
import { hasMode, type PrivacyRules } from '@vitrine/traces/privacy/privacy-rules';
import { openPrivacyTools } from '@vitrine/traces/privacy/privacy-tools';
import { Redactor } from '@vitrine/traces/privacy/redactor';

/** What may be kept of a path; `scope` is its exchange's (`exchange-scope.ts`). */
export type HidePath = (path: string, scope: string) => string;

/** Without rules: credentials are hidden. */
export const hideCredentials: HidePath = (path) => scrub(path).text;

/** The same of paths whose traces may have to hide personal data as well. */
export function pathHider(rules: PrivacyRules): HidePath {
  if (!hasMode(rules, ['redact_storage', 'redact_upstream', 'block'])) return hideCredentials;
  const tools = openPrivacyTools(rules);
  return (path, scope) => new Redactor(tools, scope).path(scrub(path).text);
}
