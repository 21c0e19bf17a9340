/** One line of a scrape. */
interface ScrapeSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly exemplar?: { readonly labels: Readonly<Record<string, string>>; readonly value: number; readonly time: number };
}

export interface ScrapeFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ScrapeSample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABELS = '\\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\n"])*"(?:,(?!\\}))?)*)\\}';
const NUMBER = '[+-]?(?:\\d+(?:\\.\\d*)?(?:e[+-]?\\d+)?|Inf)|NaN';
const SAMPLE = new RegExp(`^(${NAME})(?:${LABELS})? (${NUMBER})(?: # ${LABELS} (${NUMBER})(?: (\\d+(?:\\.\\d+)?))?)?$`);
const META = new RegExp(`^# (TYPE|HELP) (${NAME}) (.*)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"/g;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  info: ['_info'],
};
/** Longest labels of an exemplar together. */
const EXEMPLAR_MAX_CHARACTERS = 128;

/** Parses a scrape strictly, and throws with the line that violates a rule: families declared once and before their samples, samples of
 *  one
 *  family together and never twice, names that fit their type, buckets that grow up to `+Inf` and `_count`. In OpenMetrics moreover:
 *  `# EOF` at the end and nowhere else, counters with `_total`, bounds as floating point, exemplars only on buckets and inside them. */
export function parseScrape(body: string, format: 'openmetrics' | 'classic'): ScrapeFamily[] {
  const isOpen = format === 'openmetrics';
  if (!body.endsWith('\n')) throw new Error('the scrape does not end with a line feed');
  const lines = body.slice(0, -1).split('\n');
  if (isOpen && lines.pop() !== '# EOF') throw new Error('the scrape does not end with # EOF');
  const families = new Map<string, { name: string; type: string; help: string; samples: ScrapeSample[] }>();
  const seen = new Set<string>();
  let current: string | undefined;
  for (const line of lines) {
    const meta = META.exec(line);
    if (meta !== null) {
      const [, keyword, name = '', rest = ''] = meta;
      if (name !== current && families.has(name)) refuse(line, 'a family is declared twice');
      const family = families.get(name) ?? { name, type: '', help: '', samples: [] };
      if (family.samples.length > 0) refuse(line, 'a family is declared after its samples');
      if (keyword === 'TYPE' && SUFFIXES[rest] === undefined) refuse(line, 'an unknown type');
      families.set(name, keyword === 'TYPE' ? { ...family, type: rest } : { ...family, help: rest });
      current = name;
      continue;
    }
    const sample = sampleOf(line) ?? refuse(line, 'not a sample');
    const family = families.get(current ?? '') ?? refuse(line, 'a sample without a family');
    const suffixes = isOpen || family.type !== 'counter' ? (SUFFIXES[family.type] ?? []) : [''];
    if (!suffixes.some((suffix) => sample.name === family.name + suffix)) refuse(line, `no sample of ${family.name}`);
    const key = sample.name + keyOf(sample.labels);
    if (seen.has(key)) refuse(line, 'a duplicate sample');
    seen.add(key);
    if (sample.exemplar !== undefined) checkExemplar(sample, isOpen, (why) => refuse(line, why));
    family.samples.push(sample);
  }
  for (const family of families.values()) if (family.type === 'histogram') checkHistogram(family, isOpen);
  return [...families.values()];
}

function refuse(line: string, why: string): never {
  throw new Error(`${why}: ${line}`);
}

/** Equal for the same labels in any order. */
function keyOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function sampleOf(line: string): ScrapeSample | undefined {
  const [, name, labels, value, exemplarLabels, exemplarValue, time] = SAMPLE.exec(line) ?? [];
  if (name === undefined || value === undefined) return undefined;
  const sample = { name, labels: labelsOf(labels), value: numberOf(value) };
  if (exemplarValue === undefined) return sample;
  return {
    ...sample,
    exemplar: { labels: labelsOf(exemplarLabels), value: numberOf(exemplarValue), time: Number(time ?? Number.NaN) },
  };
}

function labelsOf(text = ''): Record<string, string> {
  const pairs = [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [name, unescape(value)] as const);
  if (new Set(pairs.map(([name]) => name)).size !== pairs.length) throw new Error(`a duplicate label: ${text}`);
  return Object.fromEntries(pairs);
}

function unescape(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}

function numberOf(text: string): number {
  return text.endsWith('Inf') ? (text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY) : Number(text);
}

function checkExemplar({ name, labels, exemplar }: ScrapeSample, isOpen: boolean, refuse: (why: string) => never): void {
  if (!isOpen) refuse('the classic format has no exemplars');
  if (!name.endsWith('_bucket')) refuse('an exemplar beside a bucket');
  const length = Object.entries(exemplar?.labels ?? {})
    .join('')
    .replaceAll(',', '').length;
  if (length > EXEMPLAR_MAX_CHARACTERS) refuse('the labels of an exemplar are too long');
  if ((exemplar?.value ?? 0) > numberOf(labels['le'] ?? '')) refuse('an exemplar above its bucket');
}

function checkHistogram({ name, samples }: ScrapeFamily, isOpen: boolean): void {
  const series = Map.groupBy(samples, ({ labels }) => {
    const { le: _, ...others } = labels;
    return keyOf(others);
  });
  for (const [labels, own] of series) {
    const where = `${name} ${labels}`;
    const buckets = own.filter((sample) => sample.name.endsWith('_bucket'));
    const bounds = buckets.map((bucket) => bucket.labels['le'] ?? '');
    const isRising = bounds.every((bound, index) => index === 0 || numberOf(bound) > numberOf(bounds[index - 1] ?? ''));
    if (bounds.at(-1) !== '+Inf' || !isRising) throw new Error(`buckets do not rise to +Inf: ${where}`);
    if (isOpen && bounds.some((bound) => !/^(\d+\.\d+|\d(\.\d+)?e[+-]?\d+|\+Inf)$/.test(bound)))
      throw new Error(`a bound is no floating point number: ${where}`);
    const isGrowing = buckets.every((bucket, index) => index === 0 || bucket.value >= (buckets[index - 1]?.value ?? 0));
    if (!isGrowing) throw new Error(`buckets shrink: ${where}`);
    const count = own.find((sample) => sample.name === `${name}_count`)?.value;
    if (count !== buckets.at(-1)?.value) throw new Error(`the last bucket is not the count: ${where}`);
    if (!own.some((sample) => sample.name === `${name}_sum`)) throw new Error(`no sum: ${where}`);
  }
}
