import { describe, expect, test } from '@jest/globals';
import { openBodyFactsReader } from './body-facts-reader.ts';
import { hostedTools } from './hosted-fees.ts';
import type { TokenCounts } from './token-counts.ts';

function factsOf(body: object) {
  const reader = openBodyFactsReader('json');
  reader.push(Buffer.from(JSON.stringify(body)));
  return reader.end();
}

interface Exchange {
  readonly model?: string;
  readonly request?: object;
  readonly response: object;
  readonly isPartial?: boolean;
}

function toolsOf(provider: 'openai' | 'anthropic', { model = 'gpt-5', request = {}, response, isPartial = false }: Exchange) {
  return hostedTools(provider, model, { request: factsOf(request), response: factsOf(response) }, isPartial);
}

/** Without the calls of other models. */
function feesOf(provider: 'openai' | 'anthropic', exchange: Exchange) {
  const { least, most, isDoubtful } = toolsOf(provider, exchange);
  return { least, most, isDoubtful };
}

const exactly = (fee: number) => ({ least: fee, most: fee, isDoubtful: false });
const upTo = (most: number, least = 0) => ({ least, most, isDoubtful: true });
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

test('without a response nothing is known to be due', () => {
  const request = factsOf({ tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] });
  expect(hostedTools('openai', 'gpt-5', { request, response: undefined }, false)).toEqual({ ...exactly(0), calls: [] });
});

describe("each of OpenAI's calls has its fee", () => {
  const search = { type: 'web_search_call', action: { type: 'search' } };
  const preview = { tools: [{ type: 'web_search_preview_2025_03_11' }] };
  test.each<[string, Exchange, number]>([
    ['none', { response: { output: [{ type: 'message' }] } }, 0],
    ['tools that are declared and not called', { response: { tools: [{ type: 'web_search_preview' }] } }, 0],
    ['a search', { response: { output: [search] } }, 0.01],
    ['two searches', { response: { output: times(2, search) } }, 0.02],
    ['a search without an action', { response: { output: [{ type: 'web_search_call' }] } }, 0.01],
    ['opening a page', { response: { output: [{ type: 'web_search_call', action: { type: 'open_page' } }] } }, 0],
    ['three searches of files', { response: { output: times(3, { type: 'file_search_call' }) } }, 0.0075],
    ['both', { response: { output: [search, { type: 'file_search_call' }] } }, 0.0125],
    [
      'searches by the count of the response',
      { response: { output: [search], tool_usage: { web_search: { num_requests: 4 } } } },
      0.04,
    ],
    ['the preview tool and a model that reasons', { request: preview, response: { output: [search] } }, 0.01],
    ['the preview tool', { model: 'gpt-4o', request: preview, response: { output: [search] } }, 0.025],
    ['the preview tool of the response', { model: 'gpt-4.1', response: { output: [search], ...preview } }, 0.025],
    [
      'the tools of the response before those of the request',
      { model: 'gpt-4o', request: preview, response: { output: [search], tools: [{ type: 'shell' }] } },
      0.01,
    ],
    ['calls inside other items', { response: { output: [{ type: 'message', content: [search] }] } }, 0],
  ])('%s', (_, exchange, fee) => {
    expect(feesOf('openai', exchange)).toEqual(exactly(fee));
  });

  test.each([7, 'x', [], { web_search: 'x' }])('in a tool_usage of %j the count is not understood', (usage) => {
    expect(feesOf('openai', { response: { tool_usage: usage } })).toMatchObject({ isDoubtful: true });
  });

  test.each(['3', -1, 1.5, 1e9 + 1, true, [2], {}])('a count of %j is none: the searches seen are due at the most', (count) => {
    const response = { output: times(2, search), tool_usage: { web_search: { num_requests: count } } };
    expect(feesOf('openai', { response })).toEqual(upTo(0.02));
  });
});

describe('a container costs a session at the most, and a quarter of one at the least if it is new', () => {
  const ran = (id: unknown) => ({ type: 'code_interpreter_call', container_id: id });
  const asking = (container: unknown) => ({ tools: [{ type: 'code_interpreter', container }] });
  test.each<[string, unknown, readonly unknown[], [number, number]]>([
    ['of 1 GB', { type: 'auto' }, ['a'], [0.0075, 0.03]],
    ['of 1 GB by name', { type: 'auto', memory_limit: '1g' }, ['a'], [0.0075, 0.03]],
    ['of 4 GB', { type: 'auto', memory_limit: '4g' }, ['a'], [0.03, 0.12]],
    ['of 16 GB', { type: 'auto', memory_limit: '16g' }, ['a'], [0.12, 0.48]],
    ['of 64 GB', { type: 'auto', memory_limit: '64g' }, ['a'], [0.48, 1.92]],
    ['used twice', { type: 'auto' }, ['a', 'a'], [0.0075, 0.03]],
    ['and another', { type: 'auto' }, ['a', 'b', 'a'], [0.015, 0.06]],
    ['that was made before, of any size', 'a', ['a'], [0, 1.92]],
  ])('%s', (_, container, ids, [least, most]) => {
    const output = ids.map(ran);
    expect(feesOf('openai', { request: asking(container), response: { output } })).toEqual(upTo(most, least));
  });

  test('a shell runs in one too', () => {
    const output = [{ type: 'shell_call', environment: { type: 'container_reference', container_id: 'a' } }, ran('a')];
    expect(feesOf('openai', { response: { output } })).toEqual(upTo(0.03, 0.0075));
  });

  test("as a shell's environment declares it", () => {
    const output = [{ type: 'shell_call', environment: { type: 'container_reference', container_id: 'a' } }];
    const large = { tools: [{ type: 'shell', environment: { type: 'container_auto', memory_limit: '64g' } }] };
    expect(feesOf('openai', { request: large, response: { output } })).toEqual(upTo(1.92, 0.48));
    const given = { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'a' } }] };
    expect(feesOf('openai', { request: given, response: { output } })).toEqual(upTo(1.92));
  });

  test('of unknown size it may be the largest', () => {
    const request = asking({ type: 'auto', memory_limit: '256g' });
    expect(feesOf('openai', { request, response: { output: [ran('a')] } })).toMatchObject({ most: 1.92, isDoubtful: true });
  });

  test.each([undefined, null, 5, {}])('a call in the container %j is in none', (id) => {
    expect(feesOf('openai', { response: { output: [ran(id)] } })).toEqual(exactly(0));
  });
});

describe('images cost the tokens of their own model, which no total of the response contains', () => {
  const image = (size: unknown, quality: unknown) => ({ type: 'image_generation_call', size, quality });
  const callsOf = (response: object, request?: object) => {
    const { calls, ...fees } = toolsOf('openai', { response, ...(request && { request }) });
    expect(fees).toEqual(exactly(0));
    return calls.map(({ model, shown, least, most, isDoubtful }) => {
      expect([shown.input, shown.output]).toEqual([0, 0]);
      return { model, least: tokensIn(least), most: tokensIn(most), isDoubtful };
    });
  };
  const tokensIn = ({ input, imageIn, output, imageOut }: TokenCounts) => [input, imageIn, output, imageOut];
  const NOTHING = [0, 0, 0, 0];

  test('as the response counts them', () => {
    const counts = { input_tokens: 50, output_tokens: 1_100, total_tokens: 1_150 };
    const details = {
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      output_tokens_details: { text_tokens: 44, image_tokens: 1_056 },
    };
    const response = { output: [image('1024x1024', 'high')], tool_usage: { image_gen: { ...counts, ...details } } };
    const counted = [50, 40, 1_100, 1_056];
    expect(callsOf(response)).toEqual([{ model: 'gpt-image-1', least: counted, most: counted, isDoubtful: false }]);
    const request = { tools: [{ type: 'image_generation', model: 'gpt-image-1-mini' }] };
    expect(callsOf(response, request)).toMatchObject([{ model: 'gpt-image-1-mini', most: counted }]);
    // Of the response's tools.
    expect(callsOf({ ...response, tools: request.tools })).toMatchObject([{ model: 'gpt-image-1-mini', most: counted }]);
  });

  test('no call when it counts none', () => {
    expect(callsOf({ tool_usage: { image_gen: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } } })).toEqual([]);
    expect(callsOf({ output: [{ type: 'message' }] })).toEqual([]);
  });

  test.each<[string, readonly object[], number]>([
    ['small and cheap', [image('1024x1024', 'low')], 272],
    ['wide', [image('1536x1024', 'medium')], 1_568],
    ['tall and good', [image('1024x1536', 'high')], 6_240],
    ['two', [image('1024x1024', 'high'), image('1024x1024', 'low')], 4_160 + 272],
    ['of a size chosen by the model', [image('auto', 'high')], 6_240],
    ['of an unknown quality', [image('1024x1024', 'ultra')], 6_240],
    ['of no size', [image(undefined, undefined)], 6_240],
    ['of odd types', [image(5, {})], 6_240],
  ])('at the most those of its images, where it counts none: %s', (_, output, tokens) => {
    const input = output.length * 10_000;
    const most = [input, input, tokens, tokens];
    expect(callsOf({ output })).toEqual([{ model: 'gpt-image-1', least: NOTHING, most, isDoubtful: true }]);
  });

  test.each([
    ['low', 'constructor'],
    ['constructor', 'name'],
    ['__proto__', 'toString'],
  ])('a quality of %s and a size of %s are unknown', (quality, size) => {
    const output = [image(size, quality)];
    expect(callsOf({ output })).toMatchObject([{ most: [10_000, 10_000, 6_240, 6_240] }]);
  });
});

describe("Anthropic's searches have a fee by their counter", () => {
  const result = { type: 'web_search_tool_result' };
  const answer = (counters: unknown, seen = 0) => ({ content: times(seen, result), usage: { server_tool_use: counters } });
  const fees = (response: object, isPartial = false) => feesOf('anthropic', { response, isPartial });

  test.each<[string, object, number]>([
    ['none', answer(null), 0],
    ['three', answer({ web_search_requests: 3 }, 3), 0.03],
    ['a failed search has a result and no fee', answer({ web_search_requests: 1 }, 2), 0.01],
    ['an absent counter', answer({ web_search_requests: null }), 0],
    ['other tools are free', answer({ web_fetch_requests: 9, code_execution_requests: 9, tool_search_requests: 9 }), 0],
    ['an unknown tool that was not used', answer({ web_search_requests: 1, video_requests: 0 }), 0.01],
  ])('%s', (_, response, fee) => {
    expect(fees(response)).toEqual(exactly(fee));
  });

  test('of a stream that ended early, the results that were seen count, too', () => {
    expect(fees(answer({ web_search_requests: 1 }, 2), true)).toEqual(exactly(0.02));
    expect(fees(answer({ web_search_requests: 3 }, 2), true)).toEqual(exactly(0.03));
    expect(fees(answer(undefined, 2), true)).toEqual(exactly(0.02));
  });

  test.each(['2', -1, 0.5, true, []])('a counter of %j is none: the results are due at the most', (count) => {
    expect(fees(answer({ web_search_requests: count }, 2))).toEqual(upTo(0.02));
    expect(fees(answer({ web_search_requests: count }, 2), true)).toEqual(upTo(0.02));
  });

  test('an unknown tool costs as much as a search at the most', () => {
    expect(fees(answer({ web_search_requests: 1, video_requests: 2 }))).toEqual(upTo(0.03, 0.01));
  });

  test.each([7, 'x', [], { video_requests: '5' }])('counters of %j are not understood', (counters) => {
    expect(fees(answer(counters))).toMatchObject({ isDoubtful: true });
  });

  test("calls of OpenAI's have none", () => {
    expect(fees({ output: [{ type: 'web_search_call' }, { type: 'file_search_call' }] })).toEqual(exactly(0));
  });
});
