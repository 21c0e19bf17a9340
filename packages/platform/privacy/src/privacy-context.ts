import { SECRET_NAMES } from './credentials/assigned-secrets.ts';
import { looksSecret } from './credentials/bare-values.ts';
import { CREDENTIAL_REDACTED } from './scrub.ts';
import { TextPrefilter } from './text-prefilter.ts';
import { DeniedFields } from './bodies/denied-fields.ts';
import { isSecretHeader } from './header-lines.ts';
import { DETECTORS, type Detector } from './findings.ts';
import { hasMode, type PrivacyRules } from './privacy-rules.ts';

/** Rules prepared for use, once per thread. */
export interface PrivacyContext {
  readonly rules: PrivacyRules;
  readonly fields: DeniedFields;
  /** Matches a placeholder, alone. */
  readonly placeholder: RegExp;
  /** Matches the names of denied headers in header lines; undefined when only always redacted headers are denied. */
  readonly deniedHeader: RegExp | undefined;
  /** The detectors for bodies, and the prefilter for bodies without findings. */
  readonly inBodies: readonly Detector[];
  readonly bodyPrefilter: TextPrefilter;
  /** The same for texts other than bodies, in which a credential is never stored, regardless of the configuration. */
  readonly inLines: readonly Detector[];
  readonly linePrefilter: TextPrefilter;
  /** For bodies with mode `off`: only credentials. Undefined when no mode is `off`, or credentials are not detected. */
  readonly whenOff?: PrivacyContext | undefined;
}

export function openPrivacyContext(rules: PrivacyRules): PrivacyContext {
  const whenOff =
    hasMode(rules, ['off']) && rules.detectors.token_like ? contextOf(credentialRules(rules), credentialFields()) : undefined;
  return { ...contextOf(rules, new DeniedFields(rules.deniedFields)), whenOff };
}

function contextOf(rules: PrivacyRules, fields: DeniedFields): PrivacyContext {
  const inBodies = DETECTORS.filter((detector) => rules.detectors[detector]);
  const inLines = DETECTORS.filter((detector) => rules.detectors[detector] || detector === 'token_like');
  return {
    rules,
    fields,
    placeholder: placeholderPattern(rules.format),
    deniedHeader: headerPattern(rules.deniedHeaders),
    inBodies,
    bodyPrefilter: new TextPrefilter({ detectors: inBodies, words: fields.words }),
    inLines,
    linePrefilter: new TextPrefilter({ detectors: inLines }),
  };
}

function credentialRules(rules: PrivacyRules): PrivacyRules {
  const detectors = { email: false, phone: false, ssn: false, token_like: true };
  return { ...rules, detectors, deniedHeaders: [], format: CREDENTIAL_REDACTED };
}

/** The fields of JSON and forms that correspond to `password=`. Models respond with parts of words as `{"token":"Hello"}`. */
function credentialFields(): DeniedFields {
  return new DeniedFields(SECRET_NAMES, (name, value) => !/token/i.test(name) || looksSecret(value));
}

function headerPattern(names: readonly string[]): RegExp | undefined {
  const others = names.filter((name) => !isSecretHeader(name));
  const any = others.map((name) => RegExp.escape(name)).join('|');
  return others.length === 0 ? undefined : new RegExp(`^(?:${any})$`, 'im');
}

function placeholderPattern(format: string): RegExp {
  const parts = format.split(/(\{type\}|\{hash\})/).map((part) => {
    if (part === '{type}') return '[A-Z]+';
    return part === '{hash}' ? '[0-9a-f]{16}' : RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('')}$`);
}
