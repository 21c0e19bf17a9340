import { expect, test } from '@jest/globals';
import { parseScrape } from './parse-scrape.ts';

const HISTOGRAM = [
  '# TYPE h histogram',
  'h_bucket{le="0.1"} 1 # {trace_id="ab"} 0.05 1.5',
  'h_bucket{le="+Inf"} 2',
  'h_sum 1.05',
  'h_count 2',
];
const text = (...lines: string[]) => `${lines.join('\n')}\n`;

test('a valid scrape is read completely', () => {
  const families = parseScrape(
    text('# TYPE c counter', '# HELP c what', 'c_total{a="x\\"y"} 3', ...HISTOGRAM, '# EOF'),
    'openmetrics',
  );
  expect(families).toMatchObject([
    { name: 'c', type: 'counter', help: 'what', samples: [{ name: 'c_total', labels: { a: 'x"y' }, value: 3 }] },
    { name: 'h', type: 'histogram' },
  ]);
  expect(families[1]?.samples[0]?.exemplar).toEqual({ labels: { trace_id: 'ab' }, value: 0.05, time: 1.5 });
});

test.each([
  ['no end', text('# TYPE c counter', 'c_total 1'), /EOF/],
  ['no line feed', '# EOF', /line feed/],
  ['a counter without _total', text('# TYPE c counter', 'c 1', '# EOF'), /no sample of c/],
  ['a sample without a family', text('x 1', '# EOF'), /without a family/],
  ['a family twice', text('# TYPE a gauge', 'a 1', '# TYPE b gauge', 'b 1', '# TYPE a gauge', '# EOF'), /declared twice/],
  ['a sample twice', text('# TYPE a gauge', 'a{x="1",y="2"} 1', 'a{y="2",x="1"} 2', '# EOF'), /duplicate sample/],
  ['a label twice', text('# TYPE a gauge', 'a{x="1",x="2"} 1', '# EOF'), /duplicate label/],
  ['an open quote', text('# TYPE a gauge', 'a{x="1} 1', '# EOF'), /not a sample/],
  ['an unknown type', text('# TYPE a thing', '# EOF'), /unknown type/],
  ['a bound that is no float', text(...HISTOGRAM.map((line) => line.replace('0.1', '1')), '# EOF'), /floating point/],
  ['no +Inf', text(...HISTOGRAM.filter((line) => !line.includes('Inf')), '# EOF'), /\+Inf/],
  ['shrinking buckets', text(...HISTOGRAM.map((line) => line.replace('} 2', '} 0')), '# EOF'), /shrink/],
  ['another count', text(...HISTOGRAM.map((line) => line.replace('count 2', 'count 3')), '# EOF'), /not the count/],
  ['no sum', text(...HISTOGRAM.filter((line) => !line.includes('sum')), '# EOF'), /no sum/],
  ['an exemplar above its bucket', text(...HISTOGRAM.map((line) => line.replace('0.05', '0.5')), '# EOF'), /above its bucket/],
  ['an exemplar beside a bucket', text('# TYPE c counter', 'c_total 1 # {a="b"} 1 1', '# EOF'), /beside a bucket/],
])('%s is refused', (_, scrape, expected) => {
  expect(() => parseScrape(scrape, 'openmetrics')).toThrow(expected);
});

test('the classic format has no exemplars and keeps _total in the family', () => {
  expect(() => parseScrape(text(...HISTOGRAM), 'classic')).toThrow(/no exemplars/);
  expect(parseScrape(text('# TYPE c_total counter', 'c_total 1'), 'classic')).toHaveLength(1);
});
