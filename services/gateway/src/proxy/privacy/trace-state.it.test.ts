import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestCollector, type TestCollector } from '@vitrine/testkit/test-collector';
import { rawExchange } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const YAML = `
pii:
  mode: redact_upstream
  replacement: { format: "[{type}]" }
  scopes:
    - { match: { route_prefix: /openai/v1/blocked }, mode: block }
    - { match: { provider: anthropic }, mode: redact_storage }
`;
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

describe.each([
  ['with spans', true],
  ['without spans', false],
])('a trace state, %s,', (_, hasSpans) => {
  let collector: TestCollector;
  let gateway: TestGateway;
  beforeAll(async () => {
    collector = await startTestCollector();
    gateway = await startTestGateway(hasSpans ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } : {}, YAML);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await collector[Symbol.asyncDispose]();
  });

  const send = (path: string, tracestate: string) =>
    rawExchange(gateway.url + path, { method: 'GET', headers: { traceparent: TRACEPARENT, tracestate } });
  const atProvider = (provider: 'openai' | 'anthropic') => {
    const { rawHeaders = [] } = gateway[provider].received.at(-1) ?? {};
    const valuesOf = (name: string) =>
      rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
    return { traceparent: valuesOf('traceparent'), tracestate: valuesOf('tracestate') };
  };

  test.each([
    ['is redacted', '/openai/v1/models', 'a=bob@example.com,b=1', 'a=[EMAIL],b=1'],
    ['without a finding is forwarded unchanged', '/openai/v1/models', 'a=1,b=2', 'a=1,b=2'],
    ['without a finding is forwarded unchanged where a finding would block', '/openai/v1/blocked', 'a=1', 'a=1'],
    ['is not touched in other scopes', '/anthropic/v1/models', 'a=bob@example.com', 'a=bob@example.com'],
  ])('%s', async (_name, path, sent, forwarded) => {
    await send(path, sent);
    const { traceparent, tracestate } = atProvider(path.startsWith('/openai') ? 'openai' : 'anthropic');
    expect(tracestate).toEqual([forwarded]);
    expect(traceparent).toEqual([expect.stringContaining(TRACE_ID)]);
  });

  test('with a finding is rejected where findings block', async () => {
    const before = gateway.openai.exchanges;
    const { status, head } = await send('/openai/v1/blocked', 'a=bob@example.com');
    expect([status, JSON.parse(head.toString())]).toEqual([403, { error: 'request blocked by pii policy: found email' }]);
    expect(gateway.openai.exchanges).toBe(before);
  });
});
