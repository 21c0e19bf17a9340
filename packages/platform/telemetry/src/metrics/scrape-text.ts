import type { Attributes } from '@opentelemetry/api';
import { DataPointType, type DataPoint, type Histogram, type MetricData, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { exemplarsOf, type Exemplar } from './duration-series.ts';

/** A scrape's text and its format. */
export interface Scrape {
  readonly contentType: string;
  readonly body: string;
}

type Format = 'openmetrics' | 'classic';

const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  classic: 'text/plain; version=0.0.4; charset=utf-8',
};

/** The format that an Accept header prefers: OpenMetrics if it is named with a weight above zero and not below that of the classic text;
 *  otherwise the classic text. */
export function scrapeFormat(accept: string | undefined): Format {
  const weights = new Map<string, number>();
  for (const part of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((token) => token.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(type, Math.max(weights.get(type) ?? 0, weight === undefined ? 1 : Number(weight) || 0));
  }
  const openmetrics = weights.get('application/openmetrics-text') ?? 0;
  return openmetrics > 0 && openmetrics >= (weights.get('text/plain') ?? 0) ? 'openmetrics' : 'classic';
}

/** Writes collected metrics as OpenMetrics 1.0 with exemplars, or as the classic text format 0.0.4, which has none. Names and labels
 *  follow OpenTelemetry's rules for Prometheus; the resource is `target_info`. */
export function scrapeText({ resource, scopeMetrics }: ResourceMetrics, format: Format): Scrape {
  const [family, type] = format === 'openmetrics' ? ['target', 'info'] : ['target_info', 'gauge'];
  const lines = [
    `# TYPE ${family} ${type}`,
    `# HELP ${family} Resource attributes of the process.`,
    `target_info${labelText(labelPairs(resource.attributes))} 1`,
  ];
  for (const { metrics } of scopeMetrics) for (const metric of metrics) lines.push(...metricLines(metric, format));
  if (format === 'openmetrics') lines.push('# EOF');
  return { contentType: CONTENT_TYPES[format], body: `${lines.join('\n')}\n` };
}

function metricLines(metric: MetricData, format: Format): string[] {
  const { descriptor } = metric;
  const kind = kindOf(metric);
  if (kind === undefined) return [];
  const name = scrapeName(descriptor.name, descriptor.unit, kind);
  // In OpenMetrics a counter's family has no suffix, but its samples have one.
  const family = kind === 'counter' && format === 'openmetrics' ? name.replace(/_total$/, '') : name;
  const head = [`# TYPE ${family} ${kind}`];
  if (descriptor.description !== '') head.push(`# HELP ${family} ${escapeHelp(descriptor.description, format)}`);
  if (metric.dataPointType !== DataPointType.HISTOGRAM) {
    const points = metric.dataPoints as readonly DataPoint<number>[];
    return [...head, ...points.map((point) => `${name}${labelText(labelPairs(point.attributes))} ${numberText(point.value)}`)];
  }
  return [...head, ...metric.dataPoints.flatMap((point) => histogramLines(name, point, format))];
}

function kindOf(metric: MetricData): 'counter' | 'gauge' | 'histogram' | undefined {
  if (metric.dataPointType === DataPointType.HISTOGRAM) return 'histogram';
  if (metric.dataPointType === DataPointType.SUM) return metric.isMonotonic ? 'counter' : 'gauge';
  return metric.dataPointType === DataPointType.GAUGE ? 'gauge' : undefined;
}

function histogramLines(name: string, point: DataPoint<Histogram>, format: Format): string[] {
  const exemplars = format === 'openmetrics' ? exemplarsOf(point) : [];
  const { buckets, count, sum = 0 } = point.value;
  const pairs = labelPairs(point.attributes);
  const lines: string[] = [];
  let below = 0;
  for (const [index, inBucket] of buckets.counts.entries()) {
    below += inBucket;
    const bound = buckets.boundaries[index];
    const le = bound === undefined ? '+Inf' : format === 'openmetrics' ? floatText(bound) : String(bound);
    lines.push(`${name}_bucket${labelText([...pairs, `le="${le}"`])} ${below}${exemplarText(exemplars[index])}`);
  }
  return [...lines, `${name}_sum${labelText(pairs)} ${numberText(sum)}`, `${name}_count${labelText(pairs)} ${count}`];
}

function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return '';
  const { traceId, spanId, value, time } = exemplar;
  return ` # {trace_id="${traceId}",span_id="${spanId}"} ${numberText(value)} ${(time / 1_000).toFixed(3)}`;
}

function labelPairs(attributes: Attributes): string[] {
  return Object.entries(attributes).map(([name, value]) => `${labelName(name)}="${escapeLabel(String(value))}"`);
}

function labelText(pairs: readonly string[]): string {
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** OpenMetrics requires `1.0`, not `1`, in bounds. */
function floatText(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function escapeHelp(text: string, format: Format): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return format === 'openmetrics' ? escaped.replaceAll('"', '\\"') : escaped;
}

/** Words that the text formats want at the end of a name. Spec: OpenTelemetry, Prometheus and OpenMetrics Compatibility. */
const UNIT_WORDS: Readonly<Record<string, string>> = { s: 'seconds', ms: 'milliseconds', By: 'bytes' };

/** A metric's name in the scrape: dots become underscores, a unit appears once, a counter ends with `_total` and a plain ratio with
 *  `_ratio`. It is the name that an OpenTelemetry Collector gives the same metric. Spec: G14.26. */
export function scrapeName(name: string, unit: string, kind: 'counter' | 'gauge' | 'histogram'): string {
  const word = unit === '1' && kind === 'gauge' ? 'ratio' : UNIT_WORDS[unit];
  const plain = labelName(name).replace(/_total$/, '');
  const united = word === undefined || plain.endsWith(`_${word}`) ? plain : `${plain}_${word}`;
  return kind === 'counter' ? `${united}_total` : united;
}

/** An attribute's name as a label. */
function labelName(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d)/, '_');
}
