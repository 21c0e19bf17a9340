import { CREDENTIAL_WORDS } from '@vitrine/telemetry/scrub';
import { TextSieve } from '@vitrine/telemetry/text-sieve';
import { DeniedFields } from './denied-fields.ts';
import { isSecretHeader } from '../header-lines.ts';
import { DETECTORS, type Detector } from './findings.ts';
import type { PrivacyRules } from './privacy-rules.ts';

/** Rules made ready for use, once a thread. */
export interface PrivacyTools {
  readonly rules: PrivacyRules;
  readonly fields: DeniedFields;
  /** Matches a placeholder, alone. */
  readonly placeholder: RegExp;
  /** Matches the names of denied headers in header lines; undefined when there are none but those that are always hidden. */
  readonly deniedHeader: RegExp | undefined;
  /** What is looked for in bodies, and texts that cannot hold it. */
  readonly inBodies: readonly Detector[];
  readonly bodySieve: TextSieve;
  /** The same for what is no body: a credential is never kept there, whatever is configured. */
  readonly inLines: readonly Detector[];
  readonly lineSieve: TextSieve;
}

/** Characters of ASCII that JSON may write as escapes; they could hide any of the others. */
const ESCAPES = ['2', '3', '4', '5', '6', '7'].map((digit) => `\\u00${digit}`);

export function openPrivacyTools(rules: PrivacyRules): PrivacyTools {
  const fields = new DeniedFields(rules.deniedFields);
  const inBodies = DETECTORS.filter((detector) => rules.detectors[detector]);
  const inLines = DETECTORS.filter((detector) => rules.detectors[detector] || detector === 'token_like');
  return {
    rules,
    fields,
    placeholder: placeholderPattern(rules.format),
    deniedHeader: headerPattern(rules.deniedHeaders),
    inBodies,
    bodySieve: sieveOf(inBodies, [...fields.words, ...ESCAPES]),
    inLines,
    lineSieve: sieveOf(inLines, []),
  };
}

function sieveOf(detectors: readonly Detector[], words: readonly string[]): TextSieve {
  return new TextSieve({
    words: [...(detectors.includes('token_like') ? CREDENTIAL_WORDS : []), ...words],
    characters: detectors.includes('email') ? '@' : '',
    numbers: detectors.includes('phone') || detectors.includes('ssn'),
  });
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
