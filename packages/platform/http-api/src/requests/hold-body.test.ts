import { describe, expect, test } from '@jest/globals';
import type { IncomingHttpHeaders } from 'node:http';
import { PassThrough } from 'node:stream';
import { holdBody, type HeldBodyRules } from './hold-body.ts';

const BUDGET_BYTES = 1_000;

/** Bodies of at most `maxBytes`, which are not compressed. */
const rulesOf = (maxBytes: number): HeldBodyRules => ({
  maxBytes,
  unreadable: ({ 'content-encoding': coding }) => (coding === undefined ? undefined : { status: 415, error: 'compressed' }),
  tooLarge: { status: 413, error: 'too large' },
  full: { status: 503, error: 'full' },
});

function openBudget() {
  const budget = {
    free: BUDGET_BYTES,
    take(bytes: number) {
      if (bytes > budget.free) return false;
      budget.free -= bytes;
      return true;
    },
    give: (bytes: number) => void (budget.free += bytes),
  };
  return budget;
}

function reading(
  rules: HeldBodyRules,
  budget: ReturnType<typeof openBudget>,
  headers: IncomingHttpHeaders = { 'transfer-encoding': 'chunked' },
) {
  const stream = new PassThrough();
  const outcomes: unknown[] = [];
  const request = Object.assign(stream, { headers });
  const held = holdBody(request, rules, budget, (outcome) => outcomes.push(outcome));
  const write = async (...chunks: string[]) => {
    for (const chunk of chunks) stream.write(chunk);
    await new Promise(setImmediate);
  };
  const end = async () => {
    stream.end();
    await new Promise(setImmediate);
  };
  return { held, outcomes, write, end };
}

describe('reading a whole body', () => {
  test('calls back with the whole body, and keeps its budget until released, however often', async () => {
    const budget = openBudget();
    const { held, outcomes, write, end } = reading(rulesOf(100), budget);
    await write('ab', 'cd');
    expect(outcomes).toEqual([]);
    await end();
    expect(outcomes).toEqual([{ body: Buffer.from('abcd') }]);
    expect(budget.free).toBe(BUDGET_BYTES - 4);
    held.release();
    held.release();
    expect(budget.free).toBe(BUDGET_BYTES);
  });

  test('a client that disconnects frees its budget, and its late chunks need none', async () => {
    const budget = openBudget();
    const { held, outcomes, write, end } = reading(rulesOf(100), budget);
    await write('ab');
    held.release();
    await write('cd');
    await end();
    expect(outcomes).toEqual([]);
    expect(budget.free).toBe(BUDGET_BYTES);
  });

  test('a body that is too long is rejected once, at the chunk that exceeds the limit', async () => {
    const budget = openBudget();
    const { outcomes, write, end } = reading(rulesOf(3), budget);
    await write('ab', 'cd', 'ef');
    await end();
    expect(outcomes).toMatchObject([{ rejection: { status: 413 } }]);
    expect(budget.free).toBe(BUDGET_BYTES);
  });

  test('bodies that exceed the shared budget are rejected with 503, which clients may retry', async () => {
    const budget = openBudget();
    budget.free = 3;
    const { outcomes, write } = reading(rulesOf(100), budget);
    await write('ab', 'cd');
    expect(outcomes).toMatchObject([{ rejection: { status: 503 } }]);
    expect(budget.free).toBe(3);
  });

  test('a body that cannot be read is rejected by its headers', () => {
    const headers = { 'transfer-encoding': 'chunked', 'content-encoding': 'gzip' };
    expect(reading(rulesOf(100), openBudget(), headers).outcomes).toMatchObject([{ rejection: { status: 415 } }]);
  });

  test('a request without a body calls back with undefined', () => {
    expect(reading(rulesOf(100), openBudget(), { 'content-encoding': 'gzip' }).outcomes).toEqual([{ body: undefined }]);
  });
});
