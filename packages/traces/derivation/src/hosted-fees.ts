import type { BodyFacts } from './body-facts.ts';
import { FEES, IMAGE_TOKENS, MAX_IMAGE_TOKENS, NOT_REASONING } from './price-supplement.ts';
import { openAiUsage } from './openai-usage.ts';
import { NO_TOKENS, type CallUsage } from './token-counts.ts';
import { countOf, fieldsOf, isFields, isNoCount, type Fields } from './usage-report.ts';

/** The hosted tools of one exchange: their fees, in US dollars, and the calls of other models that they made. */
export interface HostedTools {
  readonly least: number;
  readonly most: number;
  readonly isDoubtful: boolean;
  /** Tokens that no total of the response contains. */
  readonly calls: readonly CallUsage[];
}

type Bounds = Pick<HostedTools, 'least' | 'most' | 'isDoubtful'>;
const NOTHING: Bounds = { least: 0, most: 0, isDoubtful: false };

/** `model`: the one that served. `isPartial`: whether the usage of the response is not its last word. */
export function hostedTools(
  provider: 'openai' | 'anthropic',
  model: string,
  { request, response }: { readonly request: BodyFacts | undefined; readonly response: BodyFacts | undefined },
  isPartial: boolean,
): HostedTools {
  if (response === undefined) return { ...NOTHING, calls: [] };
  if (provider === 'anthropic') return { ...anthropicSearches(response, isPartial), calls: [] };
  const tools = response.tools ?? request?.tools ?? [];
  const fees = [openAiSearches(model, response, tools), fileSearches(response), containers(response, tools)];
  const images = imageCalls(response, tools);
  return { ...fees.reduce(sum), calls: images };
}

function sum(left: Bounds, right: Bounds): Bounds {
  return { least: left.least + right.least, most: left.most + right.most, isDoubtful: left.isDoubtful || right.isDoubtful };
}

function exactly(fee: number): Bounds {
  return { least: fee, most: fee, isDoubtful: false };
}

/** Counters of tools without a fee. */
const FREE_COUNTERS = ['web_fetch_requests', 'code_execution_requests', 'tool_search_requests'];

function anthropicSearches({ usage, calls }: BodyFacts, isPartial: boolean): Bounds {
  const report = usage?.fields['server_tool_use'] ?? {};
  const counters = fieldsOf(report);
  const seen = calls?.webSearches ?? 0;
  const reported = counters['web_search_requests'];
  const searches = countOf(reported) ?? 0;
  const others = Object.entries(counters).filter(([name]) => name !== 'web_search_requests' && !FREE_COUNTERS.includes(name));
  const unknown = others.reduce((count, [, value]) => count + (countOf(value) ?? 0), 0);
  const isUnread = !isFields(report) || others.some(([, value]) => isNoCount(value));
  const known = isNoCount(reported) ? 0 : isPartial ? Math.max(searches, seen) : searches;
  const most = isNoCount(reported) ? seen : known;
  return {
    least: known * FEES.webSearch,
    most: (most + unknown) * FEES.webSearch,
    isDoubtful: isUnread || isNoCount(reported) || unknown > 0,
  };
}

function openAiSearches(model: string, { details, calls }: BodyFacts, tools: readonly Fields[]): Bounds {
  const usage = details['tool_usage'] ?? {};
  const search = fieldsOf(usage)['web_search'] ?? {};
  const reported = isFields(usage) && isFields(search) ? search['num_requests'] : 'not understood';
  const seen = calls?.webSearches ?? 0;
  const isPreview = tools.some(({ type }) => typeof type === 'string' && type.startsWith('web_search_preview'));
  const fee = isPreview && NOT_REASONING.test(model) ? FEES.previewWebSearch : FEES.webSearch;
  if (isNoCount(reported)) return { least: 0, most: seen * fee, isDoubtful: true };
  return exactly((countOf(reported) ?? seen) * fee);
}

function fileSearches({ calls }: BodyFacts): Bounds {
  return exactly((calls?.fileSearches ?? 0) * FEES.fileSearch);
}

/** A new container is charged for at least 5 of the 20 minutes of a session, one that was made before for its minutes here, which are unknown. */
function containers({ calls }: BodyFacts, tools: readonly Fields[]): Bounds {
  const count = calls?.containers.length ?? 0;
  if (count === 0) return NOTHING;
  const declared = tools.map(({ container, environment }) => container ?? environment).find((one) => one !== undefined);
  const { type, memory_limit: limit = '1g' } = fieldsOf(declared);
  const known = typeof limit === 'string' && Object.hasOwn(FEES.container, limit) ? FEES.container[limit as '1g'] : undefined;
  const sessions = Object.values(FEES.container);
  const isGiven = typeof declared === 'string' || type === 'container_reference';
  const least = isGiven ? 0 : (count * (known ?? Math.min(...sessions))) / 4;
  return { least, most: count * (isGiven || known === undefined ? Math.max(...sessions) : known), isDoubtful: true };
}

function imageTokens(quality: string, size: string): number {
  const sizes = Object.hasOwn(IMAGE_TOKENS, quality) ? IMAGE_TOKENS[quality] : undefined;
  return sizes !== undefined && Object.hasOwn(sizes, size) ? (sizes[size] ?? MAX_IMAGE_TOKENS) : MAX_IMAGE_TOKENS;
}

const IMAGE_MODEL = 'gpt-image-1';
/** More input tokens than the prompt and the source images of a generated image have. */
const MAX_IMAGE_INPUT = 10_000;

/** The image model's tokens, as `tool_usage` counts them, else at the most those of the generated images. */
function imageCalls({ details, calls }: BodyFacts, tools: readonly Fields[]): CallUsage[] {
  const declared = tools.find(({ type }) => type === 'image_generation')?.['model'];
  const model = typeof declared === 'string' ? declared : IMAGE_MODEL;
  const counted = openAiUsage(fieldsOf(fieldsOf(details['tool_usage'])['image_gen']), 'image');
  if (counted !== undefined)
    return counted.most.input + counted.most.output === 0 ? [] : [{ ...counted, model, shown: NO_TOKENS }];
  const images = calls?.images ?? [];
  if (images.length === 0) return [];
  const imageOut = images.reduce((tokens, { size, quality }) => tokens + imageTokens(quality, size), 0);
  const input = images.length * MAX_IMAGE_INPUT;
  const most = { ...NO_TOKENS, input, imageIn: input, output: imageOut, imageOut };
  return [{ model, shown: NO_TOKENS, reasoning: 0, least: NO_TOKENS, most, isDoubtful: true }];
}
