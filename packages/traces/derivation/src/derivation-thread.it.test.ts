import { describe, expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { DerivationThread } from './derivation-thread.ts';
import { ExchangeBatch } from './exchange-batch.ts';
import type { FakeWriterOptions } from './testing/fake-writer.ts';
import { PLAIN_POLICY, plainExchange } from './testing/plain-exchange.ts';

const COUNT = 4;
const TOKENS = 10;

function open(behaviour: FakeWriterOptions['behaviour']) {
  const kept = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const options: FakeWriterOptions = { behaviour, kept };
  const thread = new DerivationThread({
    policy: PLAIN_POLICY,
    priceOverride: undefined,
    reportsUsage: true,
    reportsTokens: true,
    writer: { module: new URL('./testing/fake-writer.ts', import.meta.url).href, options },
  });
  return { thread, kept: () => new Int32Array(kept)[0] };
}

function batch(): ExchangeBatch {
  const made = new ExchangeBatch(COUNT, 0);
  for (let at = 0; at < COUNT; at += 1) made.add(plainExchange(TOKENS));
  return made;
}

const lost = (count: number, error_class: string, name: string, message: string) => [
  { operation: expect.any(String), error_class, count, error: expect.objectContaining({ name, message }) },
];
const UNSAID = ['unknown', 'Error', 'the writer reported no result for the record'] as const;

describe('a writer that', () => {
  test.each([
    ['keeps all', { written: 4, failures: [], used: 4, derived: 4, kept: 4 }],
    ['keeps all later', { written: 4, failures: [], used: 4, derived: 4, kept: 4 }],
    ['had them already', { written: 4, failures: [], used: 4, derived: 4, kept: 0 }],
    ['keeps every second', { written: 2, failures: lost(2, 'constraint', 'Error', 'refused'), used: 2, derived: 4, kept: 2 }],
    ['throws', { written: 0, failures: lost(4, 'unknown', 'TypeError', 'no function'), used: 0, derived: 4, kept: 0 }],
    [
      'throws when it has kept one',
      { written: 0, failures: lost(4, 'unknown', 'Error', 'disk gone'), used: 0, derived: 4, kept: 1 },
    ],
    ['rejects', { written: 0, failures: lost(4, 'unknown', 'Error', 'no broker'), used: 0, derived: 4, kept: 0 }],
    ['responds short', { written: 1, failures: lost(3, ...UNSAID), used: 1, derived: 4, kept: 4 }],
    ['responds with nothing', { written: 0, failures: [expect.objectContaining({ count: 4 })], used: 0, derived: 4, kept: 0 }],
    ['responds with other words', { written: 0, failures: lost(4, ...UNSAID), used: 0, derived: 4, kept: 0 }],
  ] as const)('%s loses no more than is counted', async (behaviour, expected) => {
    const { thread, kept } = open(behaviour);
    await using _ = thread;
    const { written, failures, usage = [], tokens = [], memory } = await thread.write(batch());
    const used = usage.reduce((sum, { requests }) => sum + requests, 0);
    expect({ written, failures, used, derived: tokens.length, kept: kept() }).toEqual(expected);
    expect(usage.reduce((sum, row) => sum + row.total_tokens, 0)).toBe(used * TOKENS);
    expect(memory).toBeInstanceOf(Buffer);
    // The thread continues.
    expect((await thread.write(batch())).written).toBe(written);
  });

  test('ends its thread loses the batch, and the next one starts a new thread', async () => {
    const { thread } = open('ends its thread');
    await using _ = thread;
    for (let tries = 0; tries < 2; tries += 1) {
      const error = await thread.write(batch()).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'worker_failed', message: expect.stringContaining('out of memory') });
    }
  });

  test('does not open reports why', async () => {
    const { thread } = open('does not open');
    await using _ = thread;
    await expect(thread.callWriter({})).rejects.toMatchObject({
      code: 'worker_failed',
      message: expect.stringContaining('no such broker'),
    });
  });

  test('hangs blocks the batch until the thread is closed, and the batch is lost', async () => {
    const { thread } = open('hangs');
    const writing = thread.write(batch()).catch(codeOf);
    expect(await thread.callWriter({})).toBeUndefined();
    await thread[Symbol.asyncDispose]();
    expect(await writing).toBe('worker_failed');
  });
});

test('a batch in progress is finished when the thread is closed', async () => {
  const { thread, kept } = open('keeps all later');
  const writing = thread.write(batch());
  await thread[Symbol.asyncDispose]();
  expect([(await writing).written, kept()]).toEqual([4, 4]);
});

test('an exchange whose bodies take longer than its 50 ms is kept without them, and counted; its neighbours keep theirs', async () => {
  const privacy = {
    ...PLAIN_POLICY.privacy,
    mode: 'redact_storage' as const,
    detectors: { email: true, phone: true, ssn: true, token_like: true },
  };
  const options: FakeWriterOptions = { behaviour: 'keeps all', kept: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT) };
  await using thread = new DerivationThread({
    policy: { captureBodies: true, bodyMaxSize: 32 * 1_048_576, privacy },
    priceOverride: undefined,
    writer: { module: new URL('./testing/fake-writer.ts', import.meta.url).href, options },
  });
  const bytes = Buffer.from('token:%25 '.repeat(1_600_000));
  const made = new ExchangeBatch(3, 0);
  made.add(plainExchange(TOKENS));
  made.add(
    plainExchange(TOKENS, {
      request: { ...plainExchange(TOKENS).request, kind: undefined, chunks: [bytes], bytes: bytes.length },
    }),
  );
  made.add(plainExchange(TOKENS));
  expect(await thread.write(made)).toMatchObject({ written: 3, failures: [], bodiesOmitted: 1 });
});
