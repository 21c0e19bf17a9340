import { describe, expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { planDocument, planDocumentText, readPlanDocument } from './plan-document.ts';

const limits = { rpm: 120, concurrency: 5, freshnessDays: 30, historyDays: 90, enrichBatchMax: 100, liveRefreshesPerPeriod: 100 };

function faultOf(work: () => unknown): { code: string; message: string } {
  try {
    work();
  } catch (error) {
    return { code: codeOf(error), message: messageOf(error) };
  }
  throw new Error('was accepted');
}

describe('the document of plans', () => {
  test('is read as written, with defaults for missing fields', () => {
    const document = planDocument(7, { pro: { ...limits, gateway: { per_key: { requests_per_minute: 9 } } }, free: limits });
    expect(readPlanDocument(planDocumentText(document))).toEqual(document);
    expect(document.plans['pro']).toMatchObject({
      included: { lookup_cached: 0, history_query: 0, refresh_requested: 0 },
      gateway: { per_key: { requests_per_minute: 9, max_tokens_per_day: 0 }, per_workspace: { max_cost_usd_per_day: 0 } },
    });
    expect(document.plans['free']?.gateway).toBeUndefined();
  });

  test('has the same text and checksum for equal plans in any key order', () => {
    const turned = Object.fromEntries(Object.entries(limits).toReversed());
    const [a, b] = [planDocument(1, { pro: limits, free: limits }), planDocument(1, { free: turned, pro: turned })];
    expect(planDocumentText(a)).toBe(planDocumentText(b));
    expect(a.checksum).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(planDocument(1, { pro: { ...limits, rpm: 121 }, free: limits }).checksum).not.toBe(a.checksum);
  });

  test.each([
    ['rpm', 0, /plans\.pro\.rpm: must be at least 1/],
    ['rpm', 1.5, /plans\.pro\.rpm: must be a whole number/],
    ['concurrency', 10_001, /plans\.pro\.concurrency: must be at most 10000/],
    ['freshnessDays', 3_651, /plans\.pro\.freshnessDays: must be at most 3650/],
    ['historyDays', undefined, /plans\.pro\.historyDays: is required/],
    ['enrichBatchMax', 101, /plans\.pro\.enrichBatchMax: must be at most 100/],
    ['liveRefreshesPerPeriod', -1, /plans\.pro\.liveRefreshesPerPeriod: must be at least 0/],
    ['included', { lookup_live: 1 }, /plans\.pro\.included\.lookup_live: unknown key/],
    ['gateway', { per_keys: {} }, /plans\.pro\.gateway\.per_keys: unknown key; known keys: per_key, per_workspace/],
    ['gateway', { per_key: { requests_per_minute: '5' } }, /plans\.pro\.gateway\.per_key\.requests_per_minute: must be a/],
    ['store', {}, /plans\.pro\.store: unknown key/],
  ])('names the fault: %s %j', (field, value, expected) => {
    const fault = faultOf(() => planDocument(1, { pro: { ...limits, [field]: value } }));
    expect(fault).toEqual({ code: 'invalid_plans', message: expect.stringMatching(expected) });
  });

  test('names the first faults and counts the others', () => {
    const plans = Object.fromEntries([1, 2, 3].map((n) => [`p${n}`, { ...limits, rpm: 0, concurrency: 0, historyDays: 0 }]));
    expect(faultOf(() => planDocument(1, plans)).message).toMatch(/^(?:[^;]+; ){5}and 4 more$/);
  });

  test.each([
    ['{"generation":1', /not JSON/],
    ['[]', /must be an object/],
    ['{"generation":1,"checksum":"sha256:0","plans":{}}', /checksum: is sha256:0, but that of plans is sha256:/],
    ['{"generation":-1,"checksum":"","plans":{}}', /generation: must be at least 0/],
    ['{"generation":1,"checksum":"","plans":{"a b":{}}}', /plans\.a b: the name must be up to 64 letters/],
  ])('rejects the text %s', (text, expected) => {
    expect(faultOf(() => readPlanDocument(text)).message).toMatch(expected);
  });

  test('an edited text is detected', () => {
    const text = planDocumentText(planDocument(3, { pro: limits })).replace('"rpm": 120', '"rpm": 1200');
    expect(faultOf(() => readPlanDocument(text)).message).toMatch(/plans were changed or are incomplete/);
  });
});
