import { isAmount } from './usage-report.ts';
import type { OpenBody } from './open-body.ts';
import { MAX_IMAGE_TOKENS } from './price-supplement.ts';
import { NO_TOKENS, type CallUsage, type TokenCounts } from './token-counts.ts';

// What a call used at the most, when its provider did not report it. Nothing of it is known to be due. Spec: G4.10.

/** Bytes of text to a token at the least, in prose, code and JSON of any script. */
const BYTES_A_TOKEN = 2.5;
/** Audio has at least 8 kbit a second. */
const BYTES_A_SECOND = 1_000;
/** More tokens than a second of audio has, heard or spoken. */
const TOKENS_A_SECOND = 25;
/** More tokens than a source image has. */
const MAX_SOURCE_IMAGE_TOKENS = 10_000;

interface Messages {
  readonly path: string;
  readonly request: OpenBody;
  readonly response: OpenBody;
}

export function estimatedCall(messages: Messages): CallUsage {
  const most = { ...NO_TOKENS, ...mostTokens(messages) };
  return { shown: most, reasoning: 0, least: NO_TOKENS, most, isDoubtful: true };
}

function mostTokens(messages: Messages): Partial<TokenCounts> {
  const { path, request } = messages;
  if (/\/audio\/(?:transcriptions|translations)/.test(path)) return heard(messages);
  if (path.includes('/audio/speech')) return spoken(messages);
  if (path.includes('/images/')) return drawn(messages);
  return { input: textTokens(request.size), output: path.includes('/embeddings') ? 0 : outputTokens(messages) };
}

function textTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_A_TOKEN);
}

/** Every event of a stream may be a token. */
function outputTokens({ response }: Messages): number {
  return Math.max(response.facts()?.text?.events ?? 0, textTokens(response.size));
}

/** Audio to text. Its length is known from the response, from the header of the file, or else from its size. */
function heard(messages: Messages): Partial<TokenCounts> {
  const { textBytes = 0, fileBytes = 0, seconds } = messages.request.facts()?.form ?? {};
  const told = Number(messages.response.facts()?.details['duration']);
  const most = isAmount(told) ? told : (seconds ?? fileBytes / BYTES_A_SECOND);
  const audioIn = Math.ceil(most * TOKENS_A_SECOND);
  return { seconds: most, audioIn, input: audioIn + textTokens(textBytes), output: outputTokens(messages) };
}

/** Text to audio. */
function spoken({ request, response }: Messages): Partial<TokenCounts> {
  const audioOut = Math.ceil((response.size / BYTES_A_SECOND) * TOKENS_A_SECOND);
  return { input: textTokens(request.size), output: audioOut, audioOut };
}

function drawn({ request, response }: Messages): Partial<TokenCounts> {
  const { form, details = {} } = request.facts() ?? {};
  const asked = Number(details['n'] ?? 1);
  const images = Math.max(1, response.facts()?.items ?? 0, isAmount(asked) ? Math.min(asked, MAX_IMAGES) : MAX_IMAGES);
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
