import type { RouteResult, MockCall } from './mock-dialect.ts';
import { wholeText } from './mock-text.ts';
import { countWords } from './token-counts.ts';

/** Bytes of a second of sound. */
const BYTES_PER_SECOND = 16_000;
const TOKENS_PER_SECOND = 10;

/** POST /v1/audio/transcriptions: usage by duration for whisper-1, by tokens for every other model. */
export function openaiTranscriptions(call: MockCall): RouteResult {
  const text = wholeText(call.scenario);
  const seconds = Math.ceil(call.length / BYTES_PER_SECOND);
  const input_tokens = seconds * TOKENS_PER_SECOND;
  const output_tokens = countWords(text);
  const usage = call.start.includes('whisper-1')
    ? { type: 'duration', seconds }
    : {
        type: 'tokens',
        input_tokens,
        input_token_details: { text_tokens: 0, audio_tokens: input_tokens },
        output_tokens,
        total_tokens: input_tokens + output_tokens,
      };
  return { kind: 'json', body: call.scenario.has('no-usage') ? { text } : { text, usage } };
}
