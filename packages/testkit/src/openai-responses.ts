import type {
  Response,
  ResponseOutputMessage,
  ResponseOutputText,
  ResponseStreamEvent,
  ResponseUsage,
} from 'openai/resources/responses/responses';
import { MOCK_TIME_S, type RouteResult, type MockCall, stringOf } from './mock-dialect.ts';
import { chunkCount, errorAfter, streamedChunks, wholeText } from './mock-text.ts';
import { type SseEvent, typedEvent } from './sse-event.ts';
import { countWords, tokenCounts } from './token-counts.ts';

/** The wire format: `output_text` is the SDK's addition. */
type WireResponse = Omit<Response, 'output_text' | 'usage'> & { usage: ResponseUsage | null };
/** `Omit` of each member, and the response as it is on the wire. */
type Unnumbered<Event> = Event extends { sequence_number: number }
  ? Omit<Event, 'sequence_number' | 'response'> & (Event extends { response: Response } ? { response: WireResponse } : unknown)
  : never;

/** POST /v1/responses. */
export function openaiResponses(call: MockCall): RouteResult {
  if (call.body['stream'] === true) return { kind: 'events', events: responseEvents(call) };
  return { kind: 'json', body: completed(call) };
}

function* responseEvents(call: MockCall): Generator<SseEvent> {
  let sequence_number = 0;
  const event = (value: Unnumbered<ResponseStreamEvent>, content = false) => {
    const numbered = { ...value, sequence_number: sequence_number++ };
    return typedEvent(numbered, content);
  };
  const item_id = messageId(call);
  const place = { item_id, output_index: 0, content_index: 0 };
  yield event({ type: 'response.created', response: unfinished(call) });
  yield event({ type: 'response.in_progress', response: unfinished(call) });
  yield event({ type: 'response.output_item.added', output_index: 0, item: message(call, 'in_progress', []) });
  yield event({ type: 'response.content_part.added', ...place, part: part('') });
  for (const delta of streamedChunks(call.scenario)) {
    yield event({ type: 'response.output_text.delta', ...place, delta, logprobs: [] }, true);
  }
  if (errorAfter(call.scenario) < Infinity) {
    const error = { code: 'server_error' as const, message: 'The model failed to generate a response.' };
    yield event({ type: 'response.failed', response: { ...unfinished(call), status: 'failed', error } });
    return;
  }
  const text = wholeText(call.scenario);
  yield event({ type: 'response.output_text.done', ...place, text, logprobs: [] });
  yield event({ type: 'response.content_part.done', ...place, part: part(text) });
  yield event({ type: 'response.output_item.done', output_index: 0, item: message(call, 'completed', [part(text)]) });
  yield event({ type: 'response.completed', response: completed(call) });
}

function completed(call: MockCall): WireResponse {
  return {
    ...unfinished(call),
    status: 'completed',
    completed_at: MOCK_TIME_S,
    output: [message(call, 'completed', [part(wholeText(call.scenario))])],
    usage: call.scenario.has('no-usage') ? null : usageOf(call),
  };
}

function unfinished(call: MockCall): WireResponse {
  return {
    id: `resp_mock${call.number}`,
    object: 'response',
    created_at: MOCK_TIME_S,
    status: 'in_progress',
    background: false,
    completed_at: null,
    access_programs: null,
    error: null,
    incomplete_details: null,
    instructions: stringOf(call.body, 'instructions', '') || null,
    max_output_tokens: null,
    model: stringOf(call.body, 'model', 'mock-model'),
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    metadata: {},
  };
}

function messageId(call: MockCall): string {
  return `msg_mock${call.number}`;
}

function message(
  call: MockCall,
  status: ResponseOutputMessage['status'],
  content: ResponseOutputMessage['content'],
): ResponseOutputMessage {
  return { id: messageId(call), type: 'message', status, role: 'assistant', content };
}

function part(text: string): ResponseOutputText {
  return { type: 'output_text', annotations: [], logprobs: [], text };
}

function usageOf(call: MockCall): ResponseUsage {
  const words = countWords(call.body['instructions']) + countWords(call.body['input']);
  const counts = tokenCounts(words, chunkCount(call.scenario));
  return {
    input_tokens: counts.input,
    input_tokens_details: { cached_tokens: counts.cacheRead, cache_write_tokens: counts.cacheWrite },
    output_tokens: counts.output,
    output_tokens_details: { reasoning_tokens: counts.reasoning },
    total_tokens: counts.input + counts.output,
  };
}
