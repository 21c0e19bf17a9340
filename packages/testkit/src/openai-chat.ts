import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { CompletionUsage } from 'openai/resources/completions';
import { type JsonObject, MOCK_TIME_S, type RouteResult, type MockCall, stringOf } from './mock-dialect.ts';
import { chunkCount, errorAfter, streamedChunks, wholeText } from './mock-text.ts';
import { openaiError } from './openai-error.ts';
import type { SseEvent } from './sse-event.ts';
import { countWords, tokenCounts } from './token-counts.ts';

/** POST /v1/chat/completions. */
export function openaiChat(call: MockCall): RouteResult {
  return call.body['stream'] === true
    ? { kind: 'events', events: chatEvents(call) }
    : { kind: 'json', body: chatCompletion(call) };
}

function chatCompletion(call: MockCall): ChatCompletion {
  return {
    ...common(call),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: wholeText(call.scenario), refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    ...(call.scenario.has('no-usage') ? {} : { usage: usageOf(call) }),
  };
}

function* chatEvents(call: MockCall): Generator<SseEvent> {
  const withUsage = (call.body['stream_options'] as JsonObject | null | undefined)?.['include_usage'] === true;
  const event = (choices: ChatCompletionChunk['choices'], usage: CompletionUsage | null, content = false): SseEvent => {
    const chunk: ChatCompletionChunk = {
      ...common(call),
      object: 'chat.completion.chunk',
      choices,
      ...(withUsage ? { usage } : {}),
    };
    return { data: JSON.stringify(chunk), content };
  };
  yield event(choice({ role: 'assistant', content: '', refusal: null }), null);
  for (const content of streamedChunks(call.scenario)) yield event(choice({ content }), null, true);
  if (errorAfter(call.scenario) < Infinity) {
    yield { data: JSON.stringify(openaiError(500, 'The server had an error while processing your request. Sorry about that!')) };
    return;
  }
  yield event(choice({}, 'stop'), null);
  // Without it the stream looks interrupted: `usage: null`, and then nothing.
  if (withUsage && !call.scenario.has('no-usage')) yield event([], usageOf(call));
  yield { data: '[DONE]' };
}

function choice(delta: ChatCompletionChunk.Choice.Delta, finish_reason: 'stop' | null = null) {
  return [{ index: 0, delta, logprobs: null, finish_reason }];
}

function common(call: MockCall) {
  return {
    id: `chatcmpl-mock${call.number}`,
    created: MOCK_TIME_S,
    model: stringOf(call.body, 'model', 'mock-model'),
    service_tier: 'default' as const,
    system_fingerprint: 'fp_mock',
  };
}

function usageOf(call: MockCall): CompletionUsage {
  const counts = tokenCounts(countWords(call.body['messages']), chunkCount(call.scenario));
  return {
    prompt_tokens: counts.input,
    completion_tokens: counts.output,
    total_tokens: counts.input + counts.output,
    prompt_tokens_details: { cached_tokens: counts.cacheRead, cache_write_tokens: counts.cacheWrite, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: counts.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
