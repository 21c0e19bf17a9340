import { describe, expect, test } from '@jest/globals';
import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';
import type { IncomingHttpHeaders } from 'node:http';
import { PassThrough } from 'node:stream';
import { readGuarded, RequestGuard } from './request-guard.ts';

const RULES: PrivacyRules = {
  mode: 'block',
  policyId: 'p',
  detectors: { email: true, phone: true, ssn: true, token_like: true },
  deniedHeaders: [],
  deniedFields: [],
  format: '[{type}]',
  salt: '',
  scopes: [],
};
const ALL_ROOM = 64 * 1_048_576;

function reading(guard: RequestGuard, headers: IncomingHttpHeaders = { 'transfer-encoding': 'chunked' }) {
  const stream = new PassThrough();
  const outcomes: unknown[] = [];
  const request = Object.assign(stream, { headers });
  const held = readGuarded(request, guard, (outcome) => outcomes.push(outcome));
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

/** Measures the free budget by reserving it. */
function roomIn(guard: RequestGuard): number {
  let room = 0;
  for (let step = ALL_ROOM; step >= 1; step /= 2) {
    while (guard.take(step)) room += step;
  }
  guard.give(room);
  return room;
}

describe('reading a body for inspection', () => {
  test('calls back with the whole body, and keeps its budget until released, however often', async () => {
    const guard = new RequestGuard(RULES, 100);
    const { held, outcomes, write, end } = reading(guard);
    await write('ab', 'cd');
    expect(outcomes).toEqual([]);
    await end();
    expect(outcomes).toEqual([{ body: Buffer.from('abcd') }]);
    expect(roomIn(guard)).toBe(ALL_ROOM - 4);
    held.release();
    held.release();
    expect(roomIn(guard)).toBe(ALL_ROOM);
  });

  test('a client that disconnects frees its budget, and its late chunks need none', async () => {
    const guard = new RequestGuard(RULES, 100);
    const { held, outcomes, write, end } = reading(guard);
    await write('ab');
    held.release();
    await write('cd');
    await end();
    expect(outcomes).toEqual([]);
    expect(roomIn(guard)).toBe(ALL_ROOM);
  });

  test('a body that is too long is rejected once, at the chunk that exceeds the limit', async () => {
    const guard = new RequestGuard(RULES, 3);
    const { outcomes, write, end } = reading(guard);
    await write('ab', 'cd', 'ef');
    await end();
    expect(outcomes).toMatchObject([{ rejection: { status: 413 } }]);
    expect(roomIn(guard)).toBe(ALL_ROOM);
  });

  test('bodies that exceed the shared budget are rejected with 503, which clients may retry', async () => {
    const guard = new RequestGuard(RULES, 100);
    expect(guard.take(ALL_ROOM - 3)).toBe(true);
    const { outcomes, write } = reading(guard);
    await write('ab', 'cd');
    expect(outcomes).toMatchObject([{ rejection: { status: 503, error: 'too many request bodies are being inspected' } }]);
    expect(roomIn(guard)).toBe(3);
  });

  test('a request without a body calls back with undefined', () => {
    expect(reading(new RequestGuard(RULES, 100), {}).outcomes).toEqual([{ body: undefined }]);
  });
});
