import { describe, expect, test } from '@jest/globals';
import { ValueType } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AggregationTemporality, DataPointType, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { scrapeName, scrapeFormat, scrapeText } from './scrape-text.ts';

test.each([
  ['svc.trace.queue_dropped_total', '{trace}', 'counter', 'svc_trace_queue_dropped_total'],
  ['svc.proxy.request_duration_seconds', 's', 'histogram', 'svc_proxy_request_duration_seconds'],
  ['svc.trace.queue_depth', '{trace}', 'gauge', 'svc_trace_queue_depth'],
  ['nodejs.eventloop.delay.p99', 's', 'gauge', 'nodejs_eventloop_delay_p99_seconds'],
  ['nodejs.eventloop.time', 's', 'counter', 'nodejs_eventloop_time_seconds_total'],
  ['nodejs.eventloop.utilization', '1', 'gauge', 'nodejs_eventloop_utilization_ratio'],
  ['v8js.memory.heap.used', 'By', 'gauge', 'v8js_memory_heap_used_bytes'],
  ['gen_ai.client.token.usage', '{token}', 'histogram', 'gen_ai_client_token_usage'],
] as const)('%s (%s, a %s) is scraped as %s', (name, unit, kind, expected) => {
  expect(scrapeName(name, unit, kind)).toBe(expected);
});

test.each([
  [undefined, 'classic'],
  ['', 'classic'],
  ['*/*', 'classic'],
  ['text/plain;version=0.0.4', 'classic'],
  ['application/openmetrics-text', 'openmetrics'],
  ['Application/OpenMetrics-Text; version=1.0.0;q=0.5, text/plain;q=0.3, */*;q=0.1', 'openmetrics'],
  ['application/openmetrics-text;q=0', 'classic'],
  ['application/openmetrics-text;q=0.2,text/plain', 'classic'],
  ['application/openmetrics-text;q=nonsense', 'classic'],
])('Accept %j gets %s', (accept, expected) => {
  expect(scrapeFormat(accept)).toBe(expected);
});

describe('awkward values', () => {
  const awkward = 'quote " backslash \\ line\nfeed é';
  const metrics: ResourceMetrics = {
    resource: resourceFromAttributes({ 'service.name': awkward }),
    scopeMetrics: [
      {
        scope: { name: 'scope' },
        metrics: [
          {
            descriptor: { name: '9.odd name', description: awkward, unit: '', valueType: ValueType.DOUBLE },
            aggregationTemporality: AggregationTemporality.CUMULATIVE,
            dataPointType: DataPointType.GAUGE,
            dataPoints: [Number.NaN, Number.POSITIVE_INFINITY, -1e-7, 1e21].map((value, at) => ({
              value,
              startTime: [0, 0],
              endTime: [0, 0],
              attributes: { 'label.name': awkward, at },
            })),
          },
        ],
      },
    ],
  };

  test.each(['openmetrics', 'classic'] as const)('are escaped so that %s parsers read them back', (format) => {
    const families = parseScrape(scrapeText(metrics, format).body, format);
    const { name, samples } = families[1] ?? { name: '', samples: [] };
    expect(name).toBe('_9_odd_name');
    expect(samples.map(({ value }) => value)).toEqual([Number.NaN, Number.POSITIVE_INFINITY, -1e-7, 1e21]);
    expect(samples[0]?.labels).toEqual({ label_name: awkward, at: '0' });
  });
});
