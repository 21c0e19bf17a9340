import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

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

/** Words a validation issue as a rule, for people who wrote the value. Given to `safeParse` as `error`, it replaces zod's own texts,
 *  which name types instead of rules, and leaves those that a shape brings with it. `unknown key` names no key: `issuePaths` does. */
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
      return `must be ${oneOf(issue.values.map((value) => JSON.stringify(value)))}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `unknown key${knownKeys(issue)}`;
    case 'invalid_key':
      return `the name ${issue.issues[0]?.message ?? 'is not allowed'}`;
    case 'invalid_union':
    case 'invalid_element':
    case 'custom':
    default:
      return 'has a form that is not allowed';
  }
};

/** Where an issue is: one path, or one for each key that is unknown. */
export function issuePaths(issue: z.core.$ZodIssue): readonly PropertyKey[][] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [[...issue.path]];
}

/** The keys that an object may have which has others. */
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

function oneOf(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}

function knownKeys(issue: Issue): string {
  const keys = knownKeysOf(issue);
  return keys.length === 0 ? '' : `; known keys: ${keys.join(', ')}`;
}
