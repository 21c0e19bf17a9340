import { NO_TOKENS, type CallUsage, type TokenCounts } from './token-counts.ts';
import { countOf, fieldsOf, isNoCount, type Fields } from './usage-report.ts';

/** What an endpoint's tokens are if nothing tells: its input may be text or this. */
export type Medium = 'audio' | 'image' | undefined;

/** A usage object of OpenAI, whose input includes cache reads and writes. Undefined without any count. `medium`: of the endpoint. */
export function openAiUsage(fields: Fields, medium: Medium): CallUsage | undefined {
  const input = countOf(fields['prompt_tokens']) ?? countOf(fields['input_tokens']);
  const output = countOf(fields['completion_tokens']) ?? countOf(fields['output_tokens']);
  if (input === undefined && output === undefined) return undefined;
  const inside = fieldsOf(fields['prompt_tokens_details'] ?? fields['input_tokens_details'] ?? fields['input_token_details']);
  const outside = fieldsOf(
    fields['completion_tokens_details'] ?? fields['output_tokens_details'] ?? fields['output_token_details'],
  );
  const reasoning = countOf(outside['reasoning_tokens']) ?? countOf(fields['reasoning_tokens']) ?? 0;
  const shown: TokenCounts = {
    ...NO_TOKENS,
    input: input ?? 0,
    output: output ?? 0,
    // The second names are those of proxies to other providers.
    cached: countOf(inside['cached_tokens']) ?? countOf(fields['cache_read_input_tokens']) ?? 0,
    cacheWrite: countOf(inside['cache_write_tokens']) ?? countOf(fields['cache_creation_input_tokens']) ?? 0,
    audioIn: countOf(inside['audio_tokens']) ?? 0,
    cachedAudio: countOf(fieldsOf(inside['cached_tokens_details'])['audio_tokens']) ?? 0,
    imageIn: countOf(inside['image_tokens']) ?? 0,
    audioOut: countOf(outside['audio_tokens']) ?? 0,
    imageOut: countOf(outside['image_tokens']) ?? 0,
  };
  const isUnclear = hasUnknownWrites(inside) || hasNoCount(inside) || hasNoCount(outside);
  const sides = [inputBounds(shown, inside, medium), outputBounds(shown, outside, reasoning, medium)];
  const total = countOf(fields['total_tokens']);
  const sum = shown.input + shown.output;
  // Unexplained tokens are at the most output, where there is any.
  if (total !== undefined && total > sum) {
    const unexplained = output === undefined ? 'input' : 'output';
    const side = sides[output === undefined ? 0 : 1]?.most ?? {};
    sides.push({ least: {}, most: { [unexplained]: (side[unexplained] ?? shown[unexplained]) + total - sum } });
  }
  const isExact = sides.every((side) => side === NO_BOUNDS);
  return {
    shown,
    reasoning,
    least: isExact ? shown : sides.reduce((counts, { least }) => ({ ...counts, ...least }), shown),
    most: isExact ? shown : sides.reduce((counts, { most }) => ({ ...counts, ...most }), shown),
    isDoubtful: isUnclear || (total !== undefined && total !== sum),
  };
}

/** Counts that differ from the reported ones. */
interface Bounds {
  readonly least: Partial<TokenCounts>;
  readonly most: Partial<TokenCounts>;
}
const NO_BOUNDS: Bounds = { least: {}, most: {} };

function inputBounds(shown: TokenCounts, inside: Fields, medium: Medium): Bounds {
  const parts = shown.cached + shown.cacheWrite + shown.audioIn - shown.cachedAudio + shown.imageIn;
  const isContradictory = shown.cachedAudio > Math.min(shown.cached, shown.audioIn);
  // At the least the cheapest part is all of the input, at the most the parts come on top of it.
  if (parts > shown.input || isContradictory)
    return {
      least: { cached: Math.min(shown.cached, shown.input), cacheWrite: 0, audioIn: 0, cachedAudio: 0, imageIn: 0 },
      most: { input: shown.input + Math.max(0, parts), cachedAudio: 0 },
    };
  if (isNoCount(inside['cached_tokens'])) return { least: { cached: shown.input }, most: {} };
  return medium === undefined ? NO_BOUNDS : { least: {}, most: dearestInput(shown, inside, medium) };
}

function outputBounds(shown: TokenCounts, outside: Fields, reasoning: number, medium: Medium): Bounds {
  const parts = shown.audioOut + shown.imageOut;
  if (parts > shown.output) return { least: { audioOut: 0, imageOut: 0 }, most: { output: shown.output + parts } };
  if (reasoning > shown.output) return { least: {}, most: { output: shown.output + reasoning } };
  if (medium === 'image' && outside['image_tokens'] === undefined) return { least: {}, most: { imageOut: shown.output } };
  return NO_BOUNDS;
}

/** Writes that are kept for long have no published price. */
function hasUnknownWrites(inside: Fields): boolean {
  const kept = Object.entries(fieldsOf(inside['cache_write_tokens_details'])).filter(([name]) => name !== 'ttl_30m_tokens');
  return kept.some(([, value]) => value !== 0 && value !== null);
}

/** Whether a detail is no count. Details may have details. */
function hasNoCount(details: Fields): boolean {
  return Object.values(details).some((value) => typeof value !== 'object' && isNoCount(value));
}

/** Input that may be of the endpoint's medium, because the details do not say that it is text. */
function dearestInput(shown: TokenCounts, inside: Fields, medium: 'audio' | 'image'): Partial<TokenCounts> {
  const name = medium === 'audio' ? 'audioIn' : 'imageIn';
  const text = countOf(inside['text_tokens']);
  const ofMedium = countOf(inside[`${medium}_tokens`]);
  if (ofMedium !== undefined && text === undefined) return {};
  return { [name]: Math.max(0, shown.input - (ofMedium === undefined ? 0 : (text ?? 0))) };
}
