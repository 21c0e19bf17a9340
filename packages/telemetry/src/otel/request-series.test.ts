import { describe, expect, test } from '@jest/globals';
import { BoundedNames } from './bounded-names.ts';
import { RequestSeries, type RequestLabels } from './request-series.ts';

const labels = (more: Partial<RequestLabels> = {}): RequestLabels => ({
  provider: 'openai',
  model: 'gpt-4o',
  org_id: 'org',
  workspace_id: 'ws',
  route: '/openai/*',
  ...more,
});

const countsOf = (series: RequestSeries) => [...series.series()].flatMap(({ statuses }) => [...statuses.values()]);

describe('BoundedNames', () => {
  test('names that only failed fill a quarter, proven names the rest; all others are counted as other', () => {
    const names = new BoundedNames(8);
    const label = (name: string, isProven: boolean) => names.labelOf(name, isProven);
    expect(['a', 'b', 'c'].map((name) => label(name, false))).toEqual(['a', 'b', 'other']);
    expect(['c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => label(name, true))).toEqual(['c', 'd', 'e', 'f', 'g', 'h', 'other']);
    expect(label('c', false)).toBe('c');
    expect(names.collapsed).toBe(2);
  });

  test('a label is trimmed, scrubbed and at most 128 characters long', () => {
    const names = new BoundedNames(8);
    expect(names.labelOf(` ${'m'.repeat(500)} `, true)).toBe('m'.repeat(128));
    expect(names.labelOf('sk-proj-canary0123456789', true)).toBe('[CREDENTIAL_REDACTED]');
    expect([names.labelOf(undefined, true), names.labelOf('', true), names.labelOf('  ', true)]).toEqual([
      'unknown',
      'unknown',
      'unknown',
    ]);
  });
});

describe('RequestSeries', () => {
  test('the same labels are the same series, however they are written', () => {
    const series = new RequestSeries(() => 0);
    expect(series.of(labels(), true)).toBe(series.of(labels({ org_id: ' org ' }), true));
    expect(series.of(labels({ org_id: undefined }), true)).toBe(series.of(labels({ org_id: 'unknown' }), true));
    expect(series.of(labels(), true)).not.toBe(series.of(labels({ route: '/api/*' }), true));
  });

  test('beyond 4,096 sets tenants and models are other, and nothing is lost', () => {
    const series = new RequestSeries(() => 0);
    for (let tenant = 0; tenant < 5_000; tenant += 1) {
      const own = series.of(labels({ org_id: `org-${tenant}` }), true);
      series.counts(own, 200).proxy += 1;
    }
    const all = countsOf(series);
    expect(all).toHaveLength(4_097);
    expect(all.reduce((sum, { proxy }) => sum + proxy, 0)).toBe(5_000);
    expect(series.collapsed).toBe(904);
    expect(all.at(-1)).toMatchObject({
      proxy: 904,
      attributes: {
        provider: 'openai',
        model: 'other',
        org_id: 'other',
        workspace_id: 'other',
        route: '/openai/*',
        status_code: 200,
      },
    });
  });

  test('beyond 16,384 counters a status is other', () => {
    const series = new RequestSeries(() => 0);
    for (let org = 0; org < 40; org += 1)
      for (let status = 100; status < 600; status += 1)
        series.counts(series.of(labels({ org_id: `org-${org}` }), true), status).proxy += 1;
    const all = countsOf(series);
    expect(all.length).toBeLessThanOrEqual(16_384 + 40);
    expect(all.reduce((sum, { proxy }) => sum + proxy, 0)).toBe(20_000);
    expect(all.filter(({ attributes }) => attributes['status_code'] === 'other').length).toBeGreaterThan(0);
  });

  test('a status that is not known is unknown', () => {
    const series = new RequestSeries(() => 0);
    expect(series.counts(series.of(labels(), false), 0).attributes['status_code']).toBe('unknown');
  });
});
