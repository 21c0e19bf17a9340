import protobuf from 'protobufjs';
import { OTLP_SCHEMA } from './otlp-schema.ts';

type CollectedAttributes = Readonly<Record<string, unknown>>;

/** A span as received by a collector: ids in hex, `kind` and status code as OTLP numbers (2 server, 3 client; 2 error). */
export interface CollectedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** '' for a root. */
  readonly parentSpanId: string;
  readonly traceState: string;
  /** The trace flags; bits from 256 on mark a remote parent. */
  readonly flags: number;
  readonly attributes: CollectedAttributes;
  readonly status: { readonly code: number; readonly message: string };
  readonly events: readonly { readonly name: string; readonly attributes: CollectedAttributes }[];
  readonly links: readonly { readonly traceState: string; readonly attributes: CollectedAttributes }[];
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly resource: CollectedAttributes;
}

interface CollectedPoint {
  readonly attributes: CollectedAttributes;
  /** Of a sum or a gauge. */
  readonly value?: number;
  /** Of a histogram. */
  readonly count?: number;
  readonly sum?: number;
  readonly bounds?: readonly number[];
  readonly counts?: readonly number[];
  readonly exemplars: readonly { readonly traceId: string; readonly spanId: string; readonly value: number }[];
}

export interface CollectedMetric {
  readonly name: string;
  readonly unit: string;
  readonly kind: 'counter' | 'gauge' | 'histogram' | 'sum';
  readonly points: readonly CollectedPoint[];
  readonly resource: CollectedAttributes;
}

/** The encoding of a request to a collector. */
export type OtlpEncoding = 'protobuf' | 'json';

// The common form of both encodings after parsing: the names of OTLP JSON, with ids in hex and 64-bit numbers as text.
type Raw = { readonly [key: string]: unknown };

const { root } = protobuf.parse(OTLP_SCHEMA, { keepCase: false });

/** The spans of an export request. Throws for any other input. */
export function decodeSpans(body: Uint8Array, encoding: OtlpEncoding): CollectedSpan[] {
  return list(decode(body, encoding, 'otlp.TracesRequest')['resourceSpans']).flatMap((ofResource) => {
    const resource = attributesOf(object(ofResource['resource']));
    return list(ofResource['scopeSpans']).flatMap((scope) => list(scope['spans']).map((span) => spanOf(span, resource)));
  });
}

/** The metrics of an export request. Throws for any other input. */
export function decodeMetrics(body: Uint8Array, encoding: OtlpEncoding): CollectedMetric[] {
  return list(decode(body, encoding, 'otlp.MetricsRequest')['resourceMetrics']).flatMap((ofResource) => {
    const resource = attributesOf(object(ofResource['resource']));
    return list(ofResource['scopeMetrics']).flatMap((scope) =>
      list(scope['metrics']).map((metric) => metricOf(metric, resource)),
    );
  });
}

function decode(body: Uint8Array, encoding: OtlpEncoding, type: string): Raw {
  if (encoding === 'json') return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Raw;
  const message = root.lookupType(type);
  return message.toObject(message.decode(body), { longs: String, bytes: Array, defaults: false });
}

function spanOf(span: Raw, resource: CollectedAttributes): CollectedSpan {
  const status = object(span['status']);
  return {
    name: text(span['name']),
    kind: Number(span['kind'] ?? 0),
    traceId: hex(span['traceId']),
    spanId: hex(span['spanId']),
    parentSpanId: hex(span['parentSpanId']),
    traceState: text(span['traceState']),
    flags: Number(span['flags'] ?? 0),
    attributes: attributesOf(span),
    status: { code: Number(status['code'] ?? 0), message: text(status['message']) },
    events: list(span['events']).map((event) => ({ name: text(event['name']), attributes: attributesOf(event) })),
    links: list(span['links']).map((link) => ({ traceState: text(link['traceState']), attributes: attributesOf(link) })),
    startNanos: BigInt(text(span['startTimeUnixNano'])),
    endNanos: BigInt(text(span['endTimeUnixNano'])),
    resource,
  };
}

function metricOf(metric: Raw, resource: CollectedAttributes): CollectedMetric {
  const data = object(metric['histogram'] ?? metric['sum'] ?? metric['gauge']);
  const sumKind = data['isMonotonic'] === true ? 'counter' : 'sum';
  const kind = metric['histogram'] !== undefined ? 'histogram' : metric['sum'] === undefined ? 'gauge' : sumKind;
  return {
    name: text(metric['name']),
    unit: text(metric['unit']),
    kind,
    points: list(data['dataPoints']).map((point) => pointOf(point, kind)),
    resource,
  };
}

function pointOf(point: Raw, kind: CollectedMetric['kind']): CollectedPoint {
  const attributes = attributesOf(point);
  const exemplars = list(point['exemplars']).map((exemplar) => ({
    traceId: hex(exemplar['traceId']),
    spanId: hex(exemplar['spanId']),
    value: numberOf(exemplar),
  }));
  if (kind !== 'histogram') return { attributes, exemplars, value: numberOf(point) };
  return {
    attributes,
    exemplars,
    count: Number(point['count'] ?? 0),
    sum: Number(point['sum'] ?? 0),
    bounds: ((point['explicitBounds'] ?? []) as unknown[]).map(Number),
    counts: ((point['bucketCounts'] ?? []) as unknown[]).map(Number),
  };
}

function attributesOf(owner: Raw): CollectedAttributes {
  return Object.fromEntries(list(owner['attributes']).map((pair) => [text(pair['key']), valueOf(object(pair['value']))]));
}

function valueOf(value: Raw): unknown {
  if (value['arrayValue'] !== undefined) return list(object(value['arrayValue'])['values']).map(valueOf);
  if (value['intValue'] !== undefined) return Number(value['intValue']);
  return value['stringValue'] ?? value['boolValue'] ?? value['doubleValue'];
}

function numberOf(point: Raw): number {
  return Number(point['asDouble'] ?? point['asInt'] ?? 0);
}

/** Bytes from protobuf, or hex from OTLP JSON. */
function hex(value: unknown): string {
  return typeof value === 'string' ? value : Buffer.from((value ?? []) as number[]).toString('hex');
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function object(value: unknown): Raw {
  return (value ?? {}) as Raw;
}

function list(value: unknown): readonly Raw[] {
  return (value ?? []) as readonly Raw[];
}
