import { JsonMetricsSerializer, ProtobufMetricsSerializer, type ISerializer } from '@opentelemetry/otlp-transformer';
import { DataPointType, type DataPoint, type MetricData, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { exemplarsOf, type Exemplar } from './duration-series.ts';
import protobuf from 'protobufjs/minimal.js';

type MetricsSerializer = typeof JsonMetricsSerializer;

/** Numbers of the fields on the way from a request to a histogram's points. Source: opentelemetry-proto, metrics.proto. */
const PATH_TO_METRICS = [1, 2, 2] as const;
const HISTOGRAM = 9;
const DATA_POINTS = 1;
const EXEMPLARS = 8;

/** Wire types. Source: protobuf, Encoding. */
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;

// OpenTelemetry JS has no exemplars (open-telemetry/opentelemetry-js#5147), so they are added to the output of the stock serializers,
// which write metrics and points in input order.

/** Wraps the stock serializer. Adds the exemplars of histograms to their points, each once, and corrects points that begin after their end. */
export function withExemplars(encoding: 'json' | 'protobuf'): MetricsSerializer {
  const stock: ISerializer<ResourceMetrics, ReturnType<MetricsSerializer['deserializeResponse']>> = encoding === 'json'
    ? JsonMetricsSerializer
    : ProtobufMetricsSerializer;
  const insert = encoding === 'json' ? insertIntoJson : insertIntoProtobuf;
  let last = 0;
  return {
    serializeRequest: (collected) => {
      const metrics = withoutFutureStarts(collected);
      const bytes = stock.serializeRequest(metrics);
      const byMetric = newExemplars(metrics, last);
      const numbers = byMetric.flat(2).map(({ number }) => number);
      if (bytes === undefined || numbers.length === 0) return bytes;
      last = numbers.reduce((newest, number) => Math.max(newest, number), last);
      return insert(bytes, byMetric);
    },
    deserializeResponse: (bytes) => stock.deserializeResponse(bytes),
  };
}

/** For each metric in the order of writing, for each of its points: the exemplars. Empty for a metric without any. */
type ByMetric = readonly (readonly (readonly Exemplar[])[])[];

function newExemplars({ scopeMetrics }: ResourceMetrics, since: number): ByMetric {
  return scopeMetrics.flatMap(({ metrics }) =>
    metrics.map((metric) => {
      if (metric.dataPointType !== DataPointType.HISTOGRAM) return [];
      const byPoint = metric.dataPoints.map((point) =>
        exemplarsOf(point)
          .filter((exemplar) => exemplar !== undefined)
          .filter(({ number }) => number > since),
      );
      return byPoint.flat().length === 0 ? [] : byPoint;
    }),
  );
}

/** After the clock was set back, points begin in the future, and collectors refuse a point that begins after its end. The start of such a point is
 *  set to its end. Its counts are correct. */
function withoutFutureStarts(metrics: ResourceMetrics): ResourceMetrics {
  const points = metrics.scopeMetrics.flatMap((scope) => scope.metrics.flatMap(({ dataPoints }): Timed[] => dataPoints));
  if (!points.some(beginsAfterItsEnd)) return metrics;
  const corrected = <Point extends Timed>(point: Point): Point =>
    beginsAfterItsEnd(point) ? { ...point, startTime: point.endTime } : point;
  const scopeMetrics = metrics.scopeMetrics.map((scope) => ({
    ...scope,
    metrics: scope.metrics.map((metric) => ({ ...metric, dataPoints: metric.dataPoints.map(corrected) }) as MetricData),
  }));
  return { ...metrics, scopeMetrics };
}

type Timed = Pick<DataPoint<unknown>, 'startTime' | 'endTime'>;

function beginsAfterItsEnd({ startTime: [seconds, nanos], endTime: [endSeconds, endNanos] }: Timed): boolean {
  return seconds > endSeconds || (seconds === endSeconds && nanos > endNanos);
}

interface JsonRequest {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly { readonly histogram?: { readonly dataPoints: { exemplars?: unknown }[] } }[];
    }[];
  }[];
}

function insertIntoJson(bytes: Uint8Array, byMetric: ByMetric): Uint8Array {
  const request = JSON.parse(new TextDecoder().decode(bytes)) as JsonRequest;
  const metrics = request.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  for (const [index, byPoint] of byMetric.entries()) {
    for (const [at, exemplars] of byPoint.entries()) {
      const point = metrics[index]?.histogram?.dataPoints[at];
      if (point === undefined || exemplars.length === 0) continue;
      point.exemplars = exemplars.map(({ value, time, traceId, spanId }) => ({
        timeUnixNano: `${time}000000`,
        asDouble: value,
        traceId,
        spanId,
      }));
    }
  }
  return new TextEncoder().encode(JSON.stringify(request));
}

function insertIntoProtobuf(bytes: Uint8Array, byMetric: ByMetric): Uint8Array {
  const [resource, scope, metric] = PATH_TO_METRICS;
  let index = 0;
  const completeMetric = (message: Uint8Array): Uint8Array => {
    const byPoint = byMetric[index++];
    if (byPoint === undefined || byPoint.length === 0) return message;
    let at = 0;
    return rewriteFields(message, HISTOGRAM, (histogram) =>
      rewriteFields(histogram, DATA_POINTS, (point) => Buffer.concat([point, encodeExemplars(byPoint[at++] ?? [])])),
    );
  };
  return rewriteFields(bytes, resource, (ofResource) =>
    rewriteFields(ofResource, scope, (ofScope) => rewriteFields(ofScope, metric, completeMetric)),
  );
}

function encodeExemplars(exemplars: readonly Exemplar[]): Uint8Array {
  const writer = protobuf.Writer.create();
  for (const { value, time, traceId, spanId } of exemplars) {
    writer.uint32(tag(EXEMPLARS)).fork();
    writer.uint32(tag(2, FIXED64)).fixed64(String(BigInt(time) * 1_000_000n));
    writer.uint32(tag(3, FIXED64)).double(value);
    writer.uint32(tag(4)).bytes(Buffer.from(spanId, 'hex'));
    writer.uint32(tag(5)).bytes(Buffer.from(traceId, 'hex'));
    writer.ldelim();
  }
  return writer.finish();
}

/** The message with every length-delimited field of number `field` replaced by the result of `rewrite`. All other bytes are copied. */
function rewriteFields(message: Uint8Array, field: number, rewrite: (value: Uint8Array) => Uint8Array): Uint8Array {
  const reader = protobuf.Reader.create(message);
  const parts: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const found = reader.uint32();
    if (found === tag(field)) {
      parts.push(protobuf.Writer.create().uint32(found).bytes(rewrite(reader.bytes())).finish());
    } else {
      reader.skipType(found & 7);
      parts.push(message.subarray(start, reader.pos));
    }
  }
  return Buffer.concat(parts);
}

function tag(field: number, wireType: number = LENGTH_DELIMITED): number {
  return (field << 3) | wireType;
}
