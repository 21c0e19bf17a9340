/** The usage that a provider counted for one exchange, in the same format for all providers.
 *  `input_tokens` INCLUDES cache reads and cache writes for every provider, `output_tokens` includes reasoning, and the
 *  other counts are parts of these two. Spec: G4.9, G11.6, G11.7. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The provider's own total if reported, else input plus output. */
  readonly total_tokens: number;
  readonly cached_input_tokens: number;
  /** All cache writes, including those kept for an hour. */
  readonly cache_write_input_tokens: number;
  readonly cache_write_1h_input_tokens: number;
  readonly reasoning_tokens: number;
  readonly audio_input_tokens?: number;
  readonly audio_output_tokens?: number;
  readonly image_input_tokens?: number;
  readonly image_output_tokens?: number;
  /** Searches that the provider ran and bills individually. */
  readonly web_search_requests?: number;
}

type Raw = Readonly<Record<string, unknown>>;
const NOTHING: Raw = {};
/** More than any exchange can have. A greater count is invalid. */
const MAX_COUNT = 1e12;

/** Normalises a provider's usage object. With `previous`, a missing or null count keeps its earlier value, and a present one replaces it, because
 *  the counts of a stream are cumulative. Counts that are not whole numbers from 0 to 1e12 are ignored. When none is left, the result is
 *  `previous`. */
export function readUsage(raw: unknown, previous?: Usage): Usage | undefined {
  const fields = recordOf(raw);
  const inputDetails = recordOf(
    fields['prompt_tokens_details'] ?? fields['input_tokens_details'] ?? fields['input_token_details'],
  );
  const outputDetails = recordOf(
    fields['completion_tokens_details'] ?? fields['output_tokens_details'] ?? fields['output_token_details'],
  );
  const written = recordOf(fields['cache_creation']);

  const cached = count(inputDetails['cached_tokens']) ?? count(fields['cache_read_input_tokens']);
  const writtenFor1h = count(written['ephemeral_1h_input_tokens']);
  const cacheWrite =
    count(inputDetails['cache_write_tokens']) ??
    count(fields['cache_creation_input_tokens']) ??
    sum(count(written['ephemeral_5m_input_tokens']), writtenFor1h);
  const input = count(fields['prompt_tokens']) ?? count(fields['input_tokens']);
  const output = count(fields['completion_tokens']) ?? count(fields['output_tokens']);
  const total = count(fields['total_tokens']);
  // Anthropic's name, then OpenAI's.
  const reasoning = count(outputDetails['thinking_tokens']) ?? count(outputDetails['reasoning_tokens']);
  const rare = rareCounts(fields, inputDetails, outputDetails, previous);
  if ([input, output, total, cached, cacheWrite].every((one) => one === undefined))
    return withDetails(previous, { ...(reasoning === undefined ? {} : { reasoning_tokens: reasoning }), ...rare });

  const cachedInput = cached ?? previous?.cached_input_tokens ?? 0;
  const writtenInput = cacheWrite ?? previous?.cache_write_input_tokens ?? 0;
  const allInput = excludesCache(fields)
    ? (input ?? uncached(previous)) + cachedInput + writtenInput
    : (input ?? previous?.input_tokens ?? 0);
  const allOutput = output ?? previous?.output_tokens ?? 0;
  return {
    input_tokens: allInput,
    output_tokens: allOutput,
    total_tokens: total ?? allInput + allOutput,
    cached_input_tokens: cachedInput,
    cache_write_input_tokens: writtenInput,
    cache_write_1h_input_tokens: writtenFor1h ?? previous?.cache_write_1h_input_tokens ?? 0,
    reasoning_tokens: reasoning ?? previous?.reasoning_tokens ?? 0,
    ...rare,
  };
}

/** A part of a stream with only details changes only these. Without a count before them they are ignored. */
function withDetails(previous: Usage | undefined, details: Partial<Usage>): Usage | undefined {
  if (previous === undefined) return undefined;
  const names = Object.keys(details) as (keyof Usage)[];
  return names.some((name) => details[name] !== previous[name]) ? { ...previous, ...details } : previous;
}

/** Anthropic counts input without cache reads and writes, OpenAI with them. Both use `input_tokens`, but only OpenAI adds a total or details. */
function excludesCache(fields: Raw): boolean {
  if (count(fields['prompt_tokens']) !== undefined) return false;
  if ('cache_read_input_tokens' in fields || 'cache_creation_input_tokens' in fields || 'cache_creation' in fields) return true;
  return !('total_tokens' in fields || 'input_tokens_details' in fields || 'input_token_details' in fields);
}

function uncached(usage: Usage | undefined): number {
  if (usage === undefined) return 0;
  return Math.max(0, usage.input_tokens - usage.cached_input_tokens - usage.cache_write_input_tokens);
}

type RareCount =
  | 'audio_input_tokens'
  | 'audio_output_tokens'
  | 'image_input_tokens'
  | 'image_output_tokens'
  | 'web_search_requests';

/** Counts that most exchanges do not have; omitted when unknown or 0. */
function rareCounts(fields: Raw, input: Raw, output: Raw, previous: Usage | undefined): Partial<Record<RareCount, number>> {
  const found: Partial<Record<RareCount, number>> = {};
  const keep = (name: RareCount, raw: unknown): void => {
    const value = count(raw) ?? previous?.[name] ?? 0;
    if (value > 0) found[name] = value;
  };
  keep('audio_input_tokens', input['audio_tokens']);
  keep('audio_output_tokens', output['audio_tokens']);
  keep('image_input_tokens', input['image_tokens']);
  keep('image_output_tokens', output['image_tokens']);
  keep('web_search_requests', recordOf(fields['server_tool_use'])['web_search_requests']);
  return found;
}

function recordOf(value: unknown): Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Raw) : NOTHING;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_COUNT ? value : undefined;
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);
}
