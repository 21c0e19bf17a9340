import type { Detector } from './findings.ts';

/** `redact_storage` redacts findings in the stored copy, `redact_upstream` also in the request before it is forwarded, and `block`
 *  refuses such requests. Spec: G13.6. */
export const PRIVACY_MODES = ['off', 'redact_storage', 'redact_upstream', 'block'] as const;
export type PrivacyMode = (typeof PRIVACY_MODES)[number];

/** What is detected, how it is replaced, and for which exchanges. It is sent to worker threads; its salt is a secret. */
export interface PrivacyRules {
  readonly mode: PrivacyMode;
  readonly policyId: string;
  readonly detectors: Readonly<Record<Detector, boolean>>;
  /** Headers to redact in addition to those that always are, in lower case. */
  readonly deniedHeaders: readonly string[];
  readonly deniedFields: readonly string[];
  /** A template with `{type}` and `{hash}`. */
  readonly format: string;
  readonly salt: string;
  readonly scopes: readonly PrivacyScope[];
}

/** Other rules for exchanges that match everything under `match`. */
export interface PrivacyScope {
  readonly match: {
    readonly org_id?: string | undefined;
    readonly workspace_id?: string | undefined;
    readonly key_id?: string | undefined;
    readonly provider?: string | undefined;
    readonly route_prefix?: string | undefined;
  };
  readonly mode?: PrivacyMode | undefined;
  readonly policy_id?: string | undefined;
}

/** The rules of one exchange. */
export interface PrivacyPolicy {
  readonly mode: PrivacyMode;
  readonly policyId: string;
}

/** The fields of an exchange that rules match: its tenant and key, and its path as the client sent it. */
interface PrivacySubject {
  readonly org_id: string;
  readonly workspace_id: string;
  readonly gateway_key_id: string;
  readonly provider: string;
  readonly path: string;
}

/** The policy of an exchange: that of the matching scope with the most fields, or the first of several, else the general policy. */
export function policyFor(rules: PrivacyRules, subject: PrivacySubject): PrivacyPolicy {
  const { mode, policyId, scopes } = rules;
  if (scopes.length === 0) return rules;
  const best = scopes
    .filter((scope) => matches(scope, subject))
    .reduce<PrivacyScope | undefined>(
      (best, scope) => (best === undefined || fieldsOf(scope) > fieldsOf(best) ? scope : best),
      undefined,
    );
  return { mode: best?.mode ?? mode, policyId: best?.policy_id ?? policyId };
}

/** Whether any exchange may have one of these modes. */
export function hasMode(rules: PrivacyRules, modes: readonly PrivacyMode[]): boolean {
  return [rules, ...rules.scopes].some(({ mode }) => mode !== undefined && modes.includes(mode));
}

function matches({ match }: PrivacyScope, subject: PrivacySubject): boolean {
  const { path } = subject;
  return (
    isMatch(match.org_id, subject.org_id) &&
    isMatch(match.workspace_id, subject.workspace_id) &&
    isMatch(match.key_id, subject.gateway_key_id) &&
    isMatch(match.provider, subject.provider) &&
    (match.route_prefix === undefined || isBelow(path, match.route_prefix))
  );
}

function isMatch(wanted: string | undefined, is: string): boolean {
  return wanted === undefined || wanted === is;
}

/** Only on a path boundary. */
function isBelow(path: string, prefix: string): boolean {
  const [bare = ''] = path.split('?', 1);
  const [plain, wanted] = [spelledOut(bare), spelledOut(prefix)];
  return plain === wanted || plain.startsWith(wanted.endsWith('/') ? wanted : `${wanted}/`);
}

/** Decodes ASCII characters, because `/%63hat` is `/chat` to a provider and must not evade a rule. An encoded slash is not a boundary. */
function spelledOut(path: string): string {
  return path.replace(/%(?!2f)([2-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function fieldsOf({ match }: PrivacyScope): number {
  return Object.values(match).filter((wanted) => wanted !== undefined).length;
}
