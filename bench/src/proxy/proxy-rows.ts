import type { BenchRow } from '../bench.ts';
import { median } from '../median.ts';
import type { Measure } from './measure.ts';
import { BEFORE, type Target } from './target.ts';

type Figure = (measure: Measure) => number | undefined;

const reqPerSec: Figure = ({ load }) => load.reqPerSec;
const p50: Figure = ({ load }) => load.p50Ms;
const cpu: Figure = ({ cpuMicros, load }) => (cpuMicros === undefined ? undefined : cpuMicros / load.sent);
const rss: Figure = ({ rssMib }) => (rssMib.length === 0 ? undefined : Math.max(...rssMib));

/** The figures of one case, warm-ups left out: medians over rounds, ratios against the bare forwarder of the same round. */
export function proxyRows(measures: readonly Measure[], kind: 'speed' | 'counts'): BenchRow[] {
  const byTarget = Map.groupBy(
    measures.filter(({ round }) => round > 0),
    ({ target }) => target,
  );
  const bare = byTarget.get('bare') ?? [];
  const direct = byTarget.get('direct') ?? [];
  return [...byTarget].flatMap(([target, of]) => {
    const first = of[0];
    if (first === undefined) return [];
    const metric = (figure: string) => ({ case: first.case, metric: `${target}.${figure}` });
    const against = target === 'bare' ? [] : bare;
    const before = byTarget.get(`${target}${BEFORE}`) ?? [];
    const speed = [
      compared({ ...metric('req_per_s'), unit: 'req/s' }, of, reqPerSec, against),
      // The cost of keys and limits: against the same gateway without them.
      ...(target === 'gateway+limits'
        ? [compared({ ...metric('req_per_s_of_gateway'), unit: 'req/s' }, of, reqPerSec, byTarget.get('gateway') ?? [])]
        : []),
      ...(before.length === 0
        ? []
        : [
            compared({ ...metric('req_per_s_of_before'), unit: 'req/s' }, of, reqPerSec, before),
            compared({ ...metric('cpu_us_of_before'), unit: 'us/req' }, of, cpu, before),
          ]),
      compared({ ...metric('p50_ms'), unit: 'ms' }, of, p50, []),
      compared({ ...metric('p99_ms'), unit: 'ms' }, of, ({ load }) => load.p99Ms, against),
      compared({ ...metric('cpu_us'), unit: 'us/req' }, of, cpu, against),
      compared({ ...metric('rss_peak'), unit: 'MiB' }, of, rss, against),
      ...(first.case === 'json-1' && target !== 'direct'
        ? [added({ ...metric('added_p50_ms'), unit: 'ms' }, of, p50, direct)]
        : []),
      ...(first.case === 'json-1' && target !== 'direct'
        ? [added({ ...metric('p50_over_bare_ms'), unit: 'ms' }, of, p50, against)]
        : []),
      ...(first.case === 'json-256' ? [added({ ...metric('rss_over_bare'), unit: 'MiB' }, of, rss, against)] : []),
    ];
    const sum = (count: (measure: Measure) => number) => of.reduce((total, measure) => total + count(measure), 0);
    const counts = [
      { ...metric('sent'), value: sum(({ load }) => load.sent), unit: 'requests' },
      { ...metric('completed'), value: sum(({ load }) => load.completed), unit: 'requests' },
      { ...metric('cut_by_client'), value: sum(({ load }) => load.cutByClient), unit: 'requests' },
      { ...metric('cut_by_upstream'), value: sum(({ load }) => load.cutByUpstream), unit: 'requests' },
    ];
    const kept =
      first.rows === undefined
        ? []
        : keptRows(
            metric,
            sum(({ rows }) => rows ?? 0),
            sum(({ mock }) => mock),
          );
    return [...(kind === 'speed' ? speed.filter((row) => row !== undefined) : counts), ...kept];
  });
}

/** `rows` in the database, exchanges that the `mock` saw, and both in `kept`: their ratio must be 1. */
function keptRows(metric: (figure: string) => Pick<BenchRow, 'case' | 'metric'>, rows: number, mock: number): BenchRow[] {
  return [
    { ...metric('rows'), value: rows, unit: 'rows' },
    { ...metric('mock'), value: mock, unit: 'exchanges' },
    { ...metric('kept'), value: rows, unit: 'rows', baseline: mock, ratio: rows / mock },
  ];
}

/** The median of a figure, with the baseline's median and the median of the ratios within a round where there is a baseline. */
function compared(
  head: Omit<BenchRow, 'value'>,
  of: readonly Measure[],
  figure: Figure,
  against: readonly Measure[],
): BenchRow | undefined {
  const value = median(of.map((measure) => figure(measure) ?? Number.NaN));
  if (Number.isNaN(value)) return undefined;
  const ratios = paired(of, figure, against).map(([mine, theirs]) => mine / theirs);
  if (ratios.length === 0) return { ...head, value };
  return { ...head, value, baseline: median(against.map((measure) => figure(measure) ?? Number.NaN)), ratio: median(ratios) };
}

/** The median over rounds of the difference to the baseline within a round. */
function added(
  head: Omit<BenchRow, 'value'>,
  of: readonly Measure[],
  figure: Figure,
  against: readonly Measure[],
): BenchRow | undefined {
  const differences = paired(of, figure, against).map(([mine, theirs]) => mine - theirs);
  return differences.length === 0 ? undefined : { ...head, value: median(differences) };
}

function paired(of: readonly Measure[], figure: Figure, against: readonly Measure[]): [mine: number, theirs: number][] {
  return of.flatMap((measure) => {
    const mine = figure(measure);
    const other = against.find(({ round }) => round === measure.round);
    const theirs = other === undefined ? undefined : figure(other);
    return mine === undefined || theirs === undefined ? [] : [[mine, theirs] as [number, number]];
  });
}

/** How long gateways took from the start of their process to their first response through the proxy: medians over starts. */
export function startRows(targets: readonly Pick<Target, 'name' | 'firstResponseMs'>[]): BenchRow[] {
  return [...Map.groupBy(targets, ({ name }) => name)].flatMap(([name, of]) => {
    const times = of.flatMap(({ firstResponseMs }) => firstResponseMs ?? []);
    return times.length === 0 ? [] : [{ case: 'start', metric: `${name}.first_response_ms`, value: median(times), unit: 'ms' }];
  });
}

export const SOAK_CASE = { name: 'soak-32', kind: 'json', connections: 32 } as const;
/** Fewer samples of memory (one a second) are too few for quarters. */
export const LEAST_SAMPLES = 8;

/** The long run: speed and stored rows as in any case, the median memory of each quarter of its time, and the growth from the
 *  second to the last (in the first, caches and the heap still settle). */
export function soakRows(measure: Measure): BenchRow[] {
  const metric = (figure: string) => ({ case: SOAK_CASE.name, metric: `${measure.target}.${figure}` });
  const rows = proxyRows([measure], 'speed');
  const samples = measure.rssMib;
  if (samples.length < LEAST_SAMPLES) return rows;
  const quarter = (index: number) => median(samples.slice((samples.length * index) / 4, (samples.length * (index + 1)) / 4));
  const [second, last] = [quarter(1), quarter(3)];
  return [
    ...rows,
    ...[0, 1, 2].map((index) => ({ ...metric(`rss_q${index + 1}`), value: quarter(index), unit: 'MiB' })),
    { ...metric('rss_q4'), value: last, unit: 'MiB', baseline: second, ratio: last / second },
  ];
}
