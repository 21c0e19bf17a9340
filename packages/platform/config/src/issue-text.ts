import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

const NOT_ALLOWED = 'has a form that is not allowed';

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'must be an RFC 3339 timestamp',
  date: 'must be a date, YYYY-MM-DD',
  url: 'must be a URL',
};

/** The rule that a validation issue breaks. As the `error` of `safeParse` it replaces zod's own texts, which name types instead of rules. Texts of
 *  the schema are kept. `unknown key` does not name the key, because `issuePaths` does. */
export const issueText = (issue: Issue): string => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return `is required, and must be ${nounOf(issue.expected)}`;
      return `must be ${nounOf(issue.expected)}, not ${kindOf(issue.input)}`;
    case 'too_small':
      return tooSmall(issue.origin, Number(issue.minimum), issue.inclusive !== false);
    case 'too_big':
      return tooBig(issue.origin, Number(issue.maximum), issue.inclusive !== false);
    case 'invalid_format':
      return formatText(issue);
    case 'invalid_value':
      return choiceText(issue.values);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `unknown key${knownKeys(issue)}`;
    case 'invalid_key':
      return `the name ${issue.issues[0]?.message ?? 'is not allowed'}`;
    case 'invalid_union':
      // The options are the known values of a discriminator.
      return Array.isArray(issue['options']) ? choiceText(issue['options']) : NOT_ALLOWED;
    case 'invalid_element':
    case 'custom':
    default:
      return NOT_ALLOWED;
  }
};

/** The path of an issue, or one path for each unknown key. */
export function issuePaths(issue: z.core.$ZodIssue): readonly PropertyKey[][] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [[...issue.path]];
}

/** The keys of an object in which an issue found an unknown key. */
export function knownKeysOf({ inst }: Issue): string[] {
  const def = inst?._zod.def;
  return def !== undefined && 'shape' in def ? Object.keys(def.shape as object) : [];
}

function nounOf(expected: string): string {
  return NOUNS[expected] ?? `of type ${expected}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction';
  return NOUNS[typeof value] ?? `of type ${typeof value}`;
}

function tooSmall(origin: string, minimum: number, isInclusive: boolean): string {
  if (origin === 'string' && minimum === 1) return 'must not be empty';
  if (origin === 'string') return `must have at least ${minimum} characters`;
  if (origin === 'array') return `must have at least ${minimum} items`;
  return isInclusive ? `must be at least ${minimum}` : `must be greater than ${minimum}`;
}

function tooBig(origin: string, maximum: number, isInclusive: boolean): string {
  if (origin === 'string') return `must have at most ${maximum} characters`;
  if (origin === 'array') return `must have at most ${maximum} items`;
  return isInclusive ? `must be at most ${maximum}` : `must be less than ${maximum}`;
}

function formatText(issue: Extract<Issue, { code: 'invalid_format' }>): string {
  if (issue.format === 'regex') return `must match ${String(issue['pattern'])}`;
  if (issue.format === 'starts_with') return `must start with ${JSON.stringify(issue['prefix'])}`;
  if (issue.format === 'ends_with') return `must end with ${JSON.stringify(issue['suffix'])}`;
  if (issue.format === 'includes') return `must contain ${JSON.stringify(issue['includes'])}`;
  return FORMATS[issue.format] ?? `must have the format ${issue.format}`;
}

function choiceText(choices: readonly unknown[]): string {
  const texts = choices.map((choice) => JSON.stringify(choice));
  return `must be ${[texts.slice(0, -1).join(', '), ...texts.slice(-1)].filter((text) => text !== '').join(' or ')}`;
}

function knownKeys(issue: Issue): string {
  const keys = knownKeysOf(issue);
  return keys.length === 0 ? '' : `; known keys: ${keys.join(', ')}`;
}

const MAX_SHOWN_LENGTH = 64;
/** Names of keys with secret values, or lists of them. */
const SECRET_NAMES = /(?:token|secret|pepper|salt|password|credential|key|dsn)s?$/i;

/** A configured value for an error message: `; got "80x"`. Empty for secrets, missing values, lists and objects. User and query of a URL are
 *  omitted, because they may contain credentials. */
export function shownValue(path: readonly PropertyKey[], value: unknown): string {
  const name = path.findLast((key) => typeof key === 'string' && !/^\d+$/.test(key));
  if (value === undefined || typeof value === 'object' || SECRET_NAMES.test(String(name))) return '';
  // JSON has no NaN.
  if (typeof value === 'number') return `; got ${value}`;
  if (typeof value !== 'string') return `; got ${JSON.stringify(value)}`;
  const isUrl = value.includes('://');
  const safe = isUrl ? value.replace(/\/\/[^/?#]*@/, '//***@').replace(/[?#].*$/s, '') : value;
  const cut = safe.length > MAX_SHOWN_LENGTH ? `${safe.slice(0, MAX_SHOWN_LENGTH)}...` : safe;
  return `; got ${JSON.stringify(cut)}`;
}
