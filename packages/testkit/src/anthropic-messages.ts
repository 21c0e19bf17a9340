import type { Message, MessageDeltaUsage, RawMessageStreamEvent, Usage } from '@anthropic-ai/sdk/resources/messages';
import { anthropicError } from './anthropic-error.ts';
import { type RouteResult, type MockCall, stringOf } from './mock-dialect.ts';
import { chunkCount, errorAfter, streamedChunks, wholeText } from './mock-text.ts';
import { type SseEvent, typedEvent } from './sse-event.ts';
import { countWords, type TokenCounts, tokenCounts } from './token-counts.ts';

/** POST /v1/messages. */
export function anthropicMessages(call: MockCall): RouteResult {
  if (call.body['stream'] === true) return { kind: 'events', events: messageEvents(call) };
  const counts = countsOf(call);
  const content: Message['content'] = [{ type: 'text', text: wholeText(call.scenario), citations: null }];
  return { kind: 'json', body: message(call, { content, stop_reason: 'end_turn', usage: usageOf(counts, counts.output) }) };
}

/** POST /v1/messages/count_tokens: the whole input, cached or not. */
export function anthropicCountTokens(call: MockCall): RouteResult {
  return { kind: 'json', body: { input_tokens: countsOf(call).input } };
}

function* messageEvents(call: MockCall): Generator<SseEvent> {
  const counts = countsOf(call);
  // The first event's output count is not final: the last event's count replaces it.
  const first = message(call, { content: [], stop_reason: null, usage: usageOf(counts, 1) });
  const start = { type: 'message_start', message: first };
  yield typedEvent(start);
  yield event({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '', citations: null },
  });
  yield typedEvent({ type: 'ping' });
  for (const text of streamedChunks(call.scenario)) {
    yield event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, true);
  }
  if (errorAfter(call.scenario) < Infinity) {
    yield typedEvent(anthropicError(529, 'Overloaded', call.number));
    return;
  }
  yield event({ type: 'content_block_stop', index: 0 });
  const delta = { container: null, stop_details: null, stop_reason: 'end_turn' as const, stop_sequence: null };
  const usage = call.scenario.has('no-usage') ? {} : { usage: deltaUsageOf(counts) };
  const last = { type: 'message_delta', delta, ...usage };
  yield typedEvent(last);
  yield event({ type: 'message_stop' });
}

function event(value: RawMessageStreamEvent, content = false): SseEvent {
  return typedEvent(value, content);
}

function message(call: MockCall, { usage, ...rest }: Pick<Message, 'content' | 'stop_reason' | 'usage'>): Partial<Message> {
  return {
    id: `msg_mock${call.number}`,
    type: 'message',
    role: 'assistant',
    model: stringOf(call.body, 'model', 'mock-model'),
    ...rest,
    stop_sequence: null,
    stop_details: null,
    container: null,
    ...(call.scenario.has('no-usage') ? {} : { usage }),
  };
}

function countsOf({ body, scenario }: MockCall): TokenCounts {
  return tokenCounts(countWords(body['system']) + countWords(body['messages']), chunkCount(scenario));
}

/** Anthropic's `input_tokens` excludes tokens read from or written to the cache. */
function freshInput({ input, cacheRead, cacheWrite }: TokenCounts): number {
  return input - cacheRead - cacheWrite;
}

function usageOf(counts: TokenCounts, output_tokens: number): Usage {
  const oneHour = Math.floor(counts.cacheWrite / 2);
  return {
    input_tokens: freshInput(counts),
    cache_creation_input_tokens: counts.cacheWrite,
    cache_read_input_tokens: counts.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: counts.cacheWrite - oneHour, ephemeral_1h_input_tokens: oneHour },
    output_tokens,
    output_tokens_details: { thinking_tokens: output_tokens === counts.output ? counts.reasoning : 0 },
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: 'not_available',
    speed: null,
  };
}

function deltaUsageOf(counts: TokenCounts): MessageDeltaUsage {
  return {
    input_tokens: freshInput(counts),
    cache_creation_input_tokens: counts.cacheWrite,
    cache_read_input_tokens: counts.cacheRead,
    output_tokens: counts.output,
    output_tokens_details: { thinking_tokens: counts.reasoning },
    server_tool_use: null,
  };
}
