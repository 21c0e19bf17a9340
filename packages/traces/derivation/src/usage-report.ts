/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** The usage object of a response as the provider wrote it; that of a stream merged over its events, whose counts are cumulative. */
export interface UsageReport {
  /** A null or missing value keeps the earlier one. */
  readonly fields: Fields;
  /** Counts that were greater in an earlier event. */
  readonly highest: Readonly<Record<string, number>>;
  /** Main counts whose latest value is no count; '' when the whole usage was no object. */
  readonly wrong: readonly string[];
}

/** The counts without which there is no usage. */
const MAIN_COUNTS = ['input_tokens', 'output_tokens', 'prompt_tokens', 'completion_tokens', 'seconds'];
/** What is merged, so that a stream cannot make a report grow. */
const MERGED = [
  ...MAIN_COUNTS,
  'type',
  'total_tokens',
  'reasoning_tokens',
  ...['prompt', 'completion', 'input', 'output'].map((side) => `${side}_tokens_details`),
  'input_token_details',
  'output_token_details',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
  'iterations',
  'server_tool_use',
  'service_tier',
  'speed',
  'inference_geo',
];
/** More tokens than any exchange can have. A greater count is invalid. */
const MAX_COUNT = 1e9;

/** `report` with the next `usage` of the stream, or with the only one of a body. */
export function withUsage(report: UsageReport | undefined, usage: unknown): UsageReport | undefined {
  if (usage === undefined || usage === null) return report;
  const { fields, highest, wrong } = report ?? { fields: {}, highest: {}, wrong: [] };
  if (!isFields(usage)) return { fields, highest, wrong: wrong.includes('') ? wrong : [...wrong, ''] };
  // Most exchanges have one report.
  if (report === undefined && MAIN_COUNTS.every((name) => isMainCount(name, usage[name] ?? 0)))
    return { fields: usage, highest, wrong };
  const merged: Record<string, unknown> = {};
  const greatest = { ...highest };
  const isWrong = new Set(wrong);
  for (const name of MERGED) {
    const former = fields[name] ?? undefined;
    const value = usage[name] ?? undefined;
    if (former !== undefined) merged[name] = former;
    if (value === undefined) continue;
    if (MAIN_COUNTS.includes(name) && !isMainCount(name, value)) {
      isWrong.add(name);
      continue;
    }
    isWrong.delete(name);
    if (typeof former === 'number' && typeof value === 'number' && value < former)
      greatest[name] = Math.max(former, greatest[name] ?? 0);
    merged[name] = value;
  }
  return { fields: merged, highest: greatest, wrong: [...isWrong] };
}

function isMainCount(name: string, value: unknown): boolean {
  return name === 'seconds' ? isAmount(value) : countOf(value) !== undefined;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object's members; none for anything else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** A whole number from 0 to 1e9, or undefined. */
export function countOf(value: unknown): number | undefined {
  return Number.isInteger(value) && isAmount(value) ? value : undefined;
}

/** The number that JSON or a field of a form has, or undefined. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'string' && value.trim() !== '') return numberIn(Number(value));
  return isAmount(value) ? value : undefined;
}

/** Whether it is a number from 0 to 1e9. */
export function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_COUNT;
}

/** Whether a value was reported and is no count. */
export function isNoCount(value: unknown): boolean {
  return value !== undefined && value !== null && countOf(value) === undefined;
}
