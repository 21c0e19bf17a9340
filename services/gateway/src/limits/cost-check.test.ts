import { describe, expect, test } from '@jest/globals';
import { rejectionBody } from '@vitrine/http-api/rejection';
import { openPriceCatalogue } from '@vitrine/trace-derivation/price-catalogue';
import type { Provider } from '@vitrine/traces/trace';
import { gzipSync } from 'node:zlib';
import { CostCheck } from './cost-check.ts';

const check = new CostCheck(openPriceCatalogue(), () => Date.UTC(2026, 10, 28));

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';

function refusal(
  body: string | object | undefined,
  path = CHAT,
  provider: Provider = 'openai',
  contentType = 'application/json',
) {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  const rejection = check.rejection({ provider, path, contentType, body: text === undefined ? undefined : Buffer.from(text) });
  return rejection && { ...rejectionBody(rejection) };
}

/** A form with these parts: names and values; a file for a value with a line feed. */
function form(...parts: readonly (readonly [name: string, value: string])[]): string {
  const part = ([name, value]: readonly [string, string]) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"${value.includes('\n') ? '; filename="a.wav"' : ''}\r\n\r\n${value}\r\n`;
  return `${parts.map(part).join('')}--b--\r\n`;
}
const AUDIO = ['file', 'RIFF\n'.repeat(10_000)] as const;
const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const FORM = 'Multipart/Form-Data; boundary="b"';

describe('requests whose cost will be known are admitted', () => {
  test.each<[string, string | object, string?, Provider?]>([
    ['a model with a price', { model: 'gpt-4o-mini', messages: [] }],
    ['a stream that asks for usage', { model: 'gpt-4o-mini', stream: true, stream_options: { include_usage: true } }],
    ['the last of repeated fields', '{"model":"prod-chat","stream":true,"stream":false,"model":"gpt-4o-mini"}'],
    ['an escaped name of a field', '{"mod\\u0065l":"gpt-4o-mini"}'],
    ['a null stream', { model: 'gpt-4o-mini', stream: null }],
    ['a stream of Responses, which always reports usage', { model: 'gpt-4o-mini', stream: true }, '/v1/responses'],
    ['a stream of Anthropic, which always reports usage', { model: 'claude-sonnet-5', stream: true }, MESSAGES, 'anthropic'],
    ['a deployment with a price', { messages: [] }, '/openai/deployments/gpt-4o-mini/chat/completions?api-version=1'],
    ['a model after a long text', { messages: [{ content: 'x'.repeat(100_000) }], model: 'gpt-4o-mini' }],
  ])('%s', (...[, body, path, provider]) => {
    expect(refusal(body, path, provider)).toBeUndefined();
  });

  test('a form with the model before or after its file', () => {
    for (const body of [form(AUDIO, ['model', 'gpt-4o-mini']), form(['model', 'gpt-4o-mini'], AUDIO)])
      expect(refusal(body, TRANSCRIPTIONS, 'openai', FORM)).toBeUndefined();
  });
});

describe('requests of unknown cost are refused, with the model and the next step', () => {
  const code = 'UNKNOWN_COST_REFUSED';

  test.each<[string, object, string?, Provider?]>([
    ['prod-chat', { model: 'prod-chat' }],
    ['prod-chat', { model: 'prod-chat', stream: true, stream_options: { include_usage: true } }],
    ['claude-next', { model: 'claude-next' }, MESSAGES, 'anthropic'],
    ['prod', {}, '/openai/deployments/prod/chat/completions?api-version=1'],
  ])('a model without a price: %s', (...[model, body, path, provider]) => {
    expect(refusal(body, path, provider)).toEqual({
      error: `request of unknown cost refused (${model}): the model has no price; use another, or add its price to the file of prices.override_path`,
      code,
      model,
    });
  });

  test.each<[string, object]>([
    [CHAT, { stream: true }],
    [CHAT, { stream: true, stream_options: { include_usage: false } }],
    [CHAT, { stream: true, stream_options: null }],
    [CHAT, { stream: 1, stream_options: { include_usage: 'true' } }],
    ['/v1/completions', { stream: true }],
    ['/openai/deployments/a/chat/completions?api-version=1', { stream: true }],
    ['/v1/chat/completion%73/', { stream: true }],
    ['/v1/chat/completions?%', { stream: true }],
  ])('a stream of %s that does not ask for usage: %j', (path, more) => {
    expect(refusal({ model: 'gpt-4o-mini', ...more }, path)).toEqual({
      error:
        'request of unknown cost refused (gpt-4o-mini): the stream reports no usage; set stream_options.include_usage to true',
      code,
      model: 'gpt-4o-mini',
    });
  });

  test.each<[string, string | object | undefined]>([
    ['no valid "model"', {}],
    ['no valid "model"', { model: null }],
    ['no valid "model"', { model: ['gpt-4o-mini'] }],
    ['no valid "model"', { messages: [{ model: 'gpt-4o-mini' }] }],
    ['no valid "model"', { model: 'x'.repeat(10_000) }],
    ['no valid "model"', { model: 'x'.repeat(100_000) }],
    ['neither JSON nor a complete form', undefined],
    ['neither JSON nor a complete form', ''],
    ['neither JSON nor a complete form', '{"model":"gpt-4o-mini"'],
    ['neither JSON nor a complete form', '{"model":"gpt-4o-mini",]'],
    ['neither JSON nor a complete form', 'model=gpt-4o-mini'],
    ['neither JSON nor a complete form', '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-4o-mini\r\n--b--'],
  ])('a body whose model cannot be read: %s, %j', (because, body) => {
    const answer = refusal(body);
    expect(answer).toMatchObject({
      code,
      error: expect.stringMatching(`the model cannot be read, because its body (?:is|has) ${because}`),
    });
    expect(JSON.stringify(answer)).not.toContain('"model":');
  });

  test('a body in UTF-16, which a provider may read otherwise', () => {
    const body = Buffer.from('{"model":"gpt-4o-mini"}', 'utf16le');
    const contentType = 'application/json; charset=utf-16';
    expect(check.rejection({ provider: 'openai', path: CHAT, contentType, body })?.status).toBe(403);
  });

  test.each<[string, string]>([
    ['the model has no price', form(['model', 'prod-audio'], AUDIO)],
    ['no valid "model"', form(AUDIO)],
    ['no valid "model"', form(['model', 'gpt-4o-mini'], ['model', 'prod-audio'])],
    ['neither JSON nor a complete form', form(AUDIO, ['model', 'gpt-4o-mini']).slice(0, -6)],
    ['neither JSON nor a complete form', ''],
    ['neither JSON nor a complete form', '{"model":"gpt-4o-mini"}'],
  ])('a form: %s', (because, body) => {
    expect(refusal(body, TRANSCRIPTIONS, 'openai', FORM)).toMatchObject({ code, error: expect.stringContaining(because) });
  });

  test('by its headers: a compressed body, and one that is too long', () => {
    const compressed = check.unreadable({ 'content-encoding': 'GZIP', 'content-length': String(gzipSync('{}').length) });
    expect(compressed).toMatchObject({
      status: 403,
      details: { code },
      error: expect.stringContaining('the content coding gzip'),
    });
    expect(check.unreadable({ 'content-length': String(32 * 1_048_576 + 1) })).toBe(check.tooLarge);
    expect(check.tooLarge).toMatchObject({ status: 403, details: { code } });
    expect(check.unreadable({ 'content-length': String(32 * 1_048_576), 'content-encoding': 'identity' })).toBeUndefined();
  });

  test('official SDKs do not retry, and the audit event has the code', () => {
    const rejection = check.rejection({ provider: 'openai', path: CHAT, contentType: undefined, body: undefined });
    expect(rejection).toMatchObject({ status: 403, reason: code, headers: ['x-should-retry', 'false'] });
  });
});
