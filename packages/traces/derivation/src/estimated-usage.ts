import type { Provider } from '@vitrine/traces/trace';
import { InputEstimate } from './estimate/input-estimate.ts';
import { outputBound, OutputEstimate } from './estimate/output-estimate.ts';
import { isClaude } from './estimate/tokenizers.ts';
import { isAmount, numberIn } from './usage-report.ts';
import type { OpenBody } from './open-body.ts';
import { MAX_IMAGE_TOKENS } from './price-supplement.ts';
import { NO_TOKENS, type CallUsage, type TokenCounts } from './token-counts.ts';

// What a call used at the most, when its provider did not report it. Nothing of it is known to be due. Spec: G4.10.

/** Bytes of text to a token in bodies that are not read for it: too long to be kept, encoded in an unknown way, or of an endpoint that is not known.
 *  Digits and rare scripts have fewer. */
const BYTES_A_TOKEN = 2.5;
/** Audio has at least 8 kbit a second. */
const BYTES_A_SECOND = 1_000;
/** More tokens than a second of audio has, heard or spoken. */
const TOKENS_A_SECOND = 25;
/** More tokens than a source image has. */
const MAX_SOURCE_IMAGE_TOKENS = 10_000;
/** Endpoints whose text is found in their bodies. */
const TEXT_PATH = /\/(?:completions|responses|messages|embeddings)(?:[/?]|$)/;

interface UnreportedCall {
  readonly provider: Provider;
  readonly path: string;
  /** The model that served, or else the one that was asked for; '' when neither is known. */
  readonly model: string;
  readonly request: OpenBody;
  readonly response: OpenBody;
  /** How long the provider may have generated; undefined when it may go on. */
  readonly elapsedMs: number | undefined;
  /** Whether the provider may have generated more than has arrived. */
  readonly isCut: boolean;
}

export function estimatedCall(call: UnreportedCall): CallUsage {
  const most = { ...NO_TOKENS, ...mostTokens(call) };
  return { shown: most, reasoning: 0, least: NO_TOKENS, most, isDoubtful: true };
}

function mostTokens(call: UnreportedCall): Partial<TokenCounts> {
  const { path, request, response } = call;
  if (/\/audio\/(?:transcriptions|translations)/.test(path)) return heard(call);
  if (path.includes('/audio/speech')) return spoken(call);
  if (path.includes('/images/')) return drawn(call);
  if (!TEXT_PATH.test(path)) return { input: textTokens(request.size), output: textTokens(response.size) };
  // Of a name that is not known, the tokenizer with the most tokens.
  const model = call.provider === 'anthropic' && !isClaude(call.model) ? 'claude' : call.model;
  return { ...inputTokens(request, model), output: path.includes('/embeddings') ? 0 : outputTokens(call, model) };
}

function textTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_A_TOKEN);
}

function inputTokens(request: OpenBody, model: string): Pick<TokenCounts, 'input' | 'audioIn'> {
  const body = request.whole && request.captured.kind === 'json' ? request.decoded() : undefined;
  if (body === undefined) return { input: textTokens(request.size), audioIn: 0 };
  const estimate = new InputEstimate();
  estimate.push(body);
  return { input: estimate.tokens(model), audioIn: estimate.audioTokens };
}

function outputTokens({ request, response, elapsedMs, isCut }: UnreportedCall, model: string): number {
  const context = { model, limit: outputLimit(request), elapsedMs, isCut };
  const { kind } = response.captured;
  const body = response.whole && (kind === 'json' || kind === 'sse') ? response.decoded() : undefined;
  if (body === undefined) return outputBound({ text: sizedTokens(response), toolCalls: 0, hasThinking: false }, context);
  const estimate = new OutputEstimate(kind === 'sse' ? 'sse' : 'json');
  estimate.push(body);
  return estimate.tokens(context);
}

/** Every event of a stream may be a token. */
function sizedTokens(response: OpenBody): number {
  return Math.max(response.facts()?.text?.events ?? 0, textTokens(response.size));
}

/** The most tokens that the request allows, for all its choices. */
function outputLimit(request: OpenBody): number | undefined {
  const { max_tokens, max_completion_tokens, max_output_tokens, n = 1 } = request.facts()?.details ?? {};
  const most = max_completion_tokens ?? max_output_tokens ?? max_tokens;
  return isAmount(most) && most > 0 && isAmount(n) ? most * Math.max(1, n) : undefined;
}

/** Audio to text. Its length is known from the response, from the header of the file, or else from its size. */
function heard({ request, response }: UnreportedCall): Partial<TokenCounts> {
  const { textBytes = 0, fileBytes = 0, seconds } = request.facts()?.form ?? {};
  const told = numberIn(response.facts()?.details['duration']);
  const most = told ?? seconds ?? fileBytes / BYTES_A_SECOND;
  const audioIn = Math.ceil(most * TOKENS_A_SECOND);
  return { seconds: most, audioIn, input: audioIn + textTokens(textBytes), output: sizedTokens(response) };
}

/** Text to audio. */
function spoken({ request, response }: UnreportedCall): Partial<TokenCounts> {
  const audioOut = Math.ceil((response.size / BYTES_A_SECOND) * TOKENS_A_SECOND);
  return { input: textTokens(request.size), output: audioOut, audioOut };
}

function drawn({ request, response }: UnreportedCall): Partial<TokenCounts> {
  const { form, details = {} } = request.facts() ?? {};
  const asked = Math.min(MAX_IMAGES, numberIn(details['n'] ?? 1) ?? MAX_IMAGES);
  const images = Math.max(1, response.facts()?.items ?? 0, asked);
  const imageIn = form === undefined ? 0 : MAX_SOURCE_IMAGE_TOKENS;
  const output = images * MAX_IMAGE_TOKENS;
  return { imageIn, input: imageIn + textTokens(form?.textBytes ?? request.size), output, imageOut: output };
}

/** More images than one request may ask for. */
const MAX_IMAGES = 10;

/** The reported calls of a stream that ended early: its last call may have had as much as was estimated. */
export function withEstimate(calls: readonly CallUsage[], estimate: CallUsage): CallUsage[] {
  return calls.map((call, at) => {
    if (at < calls.length - 1) return call;
    const input = call.most.input === 0 ? estimate.most.input : call.most.input;
    const output = Math.max(call.most.output, estimate.most.output);
    return { ...call, most: { ...call.most, input, output }, isDoubtful: true };
  });
}
