import { anthropicUsage } from './anthropic-usage.ts';
import type { BodyFacts } from './body-facts.ts';
import { openAiUsage, type Medium } from './openai-usage.ts';
import { NO_TOKENS, sumOf, type CallUsage } from './token-counts.ts';
import { countOf, fieldsOf, isAmount, type Fields, type UsageReport } from './usage-report.ts';

/** The usage that a provider reported for one exchange, in the same form for all providers. Spec: G4.9, G11.6, G11.7. */
export interface Usage {
  readonly calls: readonly CallUsage[];
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The provider's own total if reported, else input plus output. */
  readonly total_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_input_tokens: number;
  readonly reasoning_tokens: number;
  /** Whether it is incomplete: of a stream that ended early, or whose last report could not be read. */
  readonly isPartial: boolean;
}

/** How to read a usage. */
export interface UsageForm {
  readonly provider: 'anthropic' | 'openai';
  readonly medium: Medium;
  /** Whether the request asks to keep its cache for an hour. */
  readonly asksForHour: () => boolean;
}

/** Undefined when nothing was reported, `undecodable` when what was reported is no usage. */
export function readUsage(
  { usage: report, details, isUsageFinal, ended }: BodyFacts,
  form: UsageForm,
): Usage | 'undecodable' | undefined {
  if (report === undefined) return undefined;
  const { fields, wrong } = report;
  const calls = callsOf(fields, form);
  if (calls === undefined || wrong.some((name) => name !== '' && fields[name] === undefined))
    return wrong.length > 0 || hasUnknownUnit(fields) ? 'undecodable' : undefined;
  const extra = extraCalls(details);
  const all = [...calls.map((call, at) => (at === calls.length - 1 ? withHighest(call, report, form) : call)), ...extra];
  const total = all.length === 1 ? countOf(fields['total_tokens']) : undefined;
  const isFinal = isUsageFinal || (ended && 'prompt_tokens' in fields);
  const isPartial = !isFinal || wrong.length > 0 || hasOnlyOutput(fields, form);
  return { ...usageOfCalls(all, isPartial), ...(total !== undefined && { total_tokens: total }) };
}

/** The usage of some calls together. */
export function usageOfCalls(calls: readonly CallUsage[], isPartial: boolean): Usage {
  const { input, output, cached, cacheWrite } = sumOf(calls, ({ shown }) => shown);
  return {
    calls,
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    cached_input_tokens: cached,
    cache_write_input_tokens: cacheWrite,
    reasoning_tokens: calls.reduce((sum, { reasoning }) => sum + reasoning, 0),
    isPartial,
  };
}

function callsOf(fields: Fields, { provider, medium, asksForHour }: UsageForm): CallUsage[] | undefined {
  if (hasUnknownUnit(fields)) return undefined;
  if (fields['type'] === 'duration') return durationOf(fields['seconds']);
  if (provider === 'anthropic') return anthropicUsage(fields, asksForHour);
  const call = openAiUsage(fields, medium);
  return call && [call];
}

/** A usage that counts neither tokens nor seconds. */
function hasUnknownUnit({ type }: Fields): boolean {
  return type !== undefined && type !== null && type !== 'tokens' && type !== 'duration';
}

function durationOf(seconds: unknown): CallUsage[] | undefined {
  if (!isAmount(seconds)) return undefined;
  const counts = { ...NO_TOKENS, seconds };
  return [{ shown: counts, reasoning: 0, least: counts, most: counts, isDoubtful: false }];
}

/** The author of an SVG is a second model. */
function extraCalls(details: Fields): CallUsage[] {
  const svg = fieldsOf(details['svg_usage']);
  const call = openAiUsage(svg, undefined);
  return call === undefined ? [] : [{ ...call, model: typeof svg['model'] === 'string' ? svg['model'] : 'unknown' }];
}

/** A count that decreased later was at the most the greater one. */
function withHighest(call: CallUsage, { fields, highest }: UsageReport, { provider }: UsageForm): CallUsage {
  const above = (...names: string[]): number =>
    Math.max(0, ...names.map((name) => ((highest[name] ?? 0) > Number(fields[name]) ? (highest[name] ?? 0) : 0)));
  const { most } = call;
  const beside = provider === 'anthropic' ? most.cached + most.cacheWrite : 0;
  const [input, output] = [above('input_tokens', 'prompt_tokens'), above('output_tokens', 'completion_tokens')];
  if (input + output === 0) return call;
  const raised = { input: Math.max(most.input, input + beside), output: Math.max(most.output, output) };
  return { ...call, most: { ...most, ...raised }, isDoubtful: true };
}

/** Every message has input. */
function hasOnlyOutput(fields: Fields, { provider }: UsageForm): boolean {
  return provider === 'anthropic' && countOf(fields['input_tokens']) === undefined;
}
