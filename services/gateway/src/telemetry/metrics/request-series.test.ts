import { describe, expect, test } from '@jest/globals';
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

describe('RequestSeries', () => {
  test('the same labels are the same series, regardless of their spelling', () => {
    const series = new RequestSeries(() => 0);
    expect(series.of(labels(), true)).toBe(series.of(labels({ org_id: ' org ' }), true));
    expect(series.of(labels({ org_id: undefined }), true)).toBe(series.of(labels({ org_id: 'unknown' }), true));
    expect(series.of(labels(), true)).not.toBe(series.of(labels({ route: '/api/*' }), true));
  });

  test('beyond 4,096 label sets tenants and models become other, and nothing is lost', () => {
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

  test('beyond 16,384 counters a status becomes other', () => {
    const series = new RequestSeries(() => 0);
    for (let org = 0; org < 40; org += 1)
      for (let status = 100; status < 600; status += 1)
        series.counts(series.of(labels({ org_id: `org-${org}` }), true), status).proxy += 1;
    const all = countsOf(series);
    expect(all.length).toBeLessThanOrEqual(16_384 + 40);
    expect(all.reduce((sum, { proxy }) => sum + proxy, 0)).toBe(20_000);
    expect(all.filter(({ attributes }) => attributes['status_code'] === 'other').length).toBeGreaterThan(0);
  });

  test('a missing status is unknown', () => {
    const series = new RequestSeries(() => 0);
    expect(series.counts(series.of(labels(), false), 0).attributes['status_code']).toBe('unknown');
  });
});
