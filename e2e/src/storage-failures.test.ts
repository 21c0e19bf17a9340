import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import type { MockProvider } from '@vitrine/testkit/mock-provider';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { execFile } from 'node:child_process';
import { Agent } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { chat, type ChatResponse } from './client-load.ts';
import { startGateway, type Diagnostics, type GatewayOptions, type RunningGateway } from './running-gateway.ts';
import { storedModels } from './trace-rows.ts';

/** Far above the latencies of exchanges on a busy machine, below the 2 s that a write waits for a lock. One in twenty may meet a machine that
 *  pauses (the longest was once 1,017 ms). */
const NORMAL_LATENCY_MS = { median: 500, p95: 1_500 };
/** Concurrent exchanges. */
const CLIENTS = 8;
/** What one file of the gateway may hold on its "full disk", in blocks of 1 KiB: the tables fit, a few hundred traces do not. */
const FILE_MAX_BYTES = 160 * 1024;

let upstream: MockProvider;
let opened: AsyncDisposableStack;
beforeAll(async () => {
  upstream = await startMockOpenai();
});
afterAll(async () => upstream[Symbol.asyncDispose]());
beforeEach(() => {
  opened = new AsyncDisposableStack();
});
afterEach(async () => opened.disposeAsync());

async function serve(options: Partial<GatewayOptions> = {}): Promise<RunningGateway> {
  const folder = opened.use(await temporaryFolder('storage'));
  return opened.use(await startGateway({ folder: folder.path, upstream: upstream.url, ...options }));
}

/** Locks the gateway's database like another program; disposal releases it. */
function holdDatabase(path: string, how: 'EXCLUSIVE' | 'IMMEDIATE'): Disposable {
  const database = new DatabaseSync(path, { timeout: 5_000 });
  database.exec(`BEGIN ${how}`);
  return { [Symbol.dispose]: () => database.isOpen && database.close() };
}

let sent = 0;
/** `count` exchanges, some at a time. */
async function exchange(gateway: RunningGateway, count: number): Promise<ChatResponse[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const responses: ChatResponse[] = [];
  const left = Array(count).keys();
  const client = async () => {
    for (const _ of left) responses.push(await chat(gateway.url, { model: `storage-${(sent += 1)}`, agent }));
  };
  await Promise.all(Array.from({ length: CLIENTS }, client)).finally(() => agent.destroy());
  return responses;
}

/** The diagnostics once `isEnough`; `meanwhile` runs before each check. */
const settled = (
  gateway: RunningGateway,
  isEnough: (diagnostics: Diagnostics) => boolean,
  what: string,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
) =>
  waitUntil(
    async () => {
      await meanwhile();
      const diagnostics = await gateway.diagnostics();
      return isEnough(diagnostics) && diagnostics;
    },
    { what },
  );

const statuses = (responses: readonly ChatResponse[]) => [...new Set(responses.map(({ status }) => status))];

function expectNormal(responses: readonly ChatResponse[]): void {
  expect(statuses(responses)).toEqual([200]);
  const latencies = responses.map(({ latencyMs }) => latencyMs).toSorted((a, b) => a - b);
  expect(latencies[latencies.length >> 1]).toBeLessThan(NORMAL_LATENCY_MS.median);
  expect(latencies[Math.floor(latencies.length * 0.95) - 1]).toBeLessThan(NORMAL_LATENCY_MS.p95);
}

/** The gateway's log lines of dropped traces. */
const dropLines = ({ process }: RunningGateway) =>
  process.stdout
    .split('\n')
    .filter((line) => line.includes('"traces dropped"'))
    .map((line) => JSON.parse(line) as DropLine);
interface DropLine {
  readonly where: string;
  readonly operation?: string;
  readonly error_class?: string;
  readonly count: number;
  readonly err?: { readonly message: string; readonly code: string };
  readonly next_step: string;
}
const countIn = (lines: readonly DropLine[]) => lines.reduce((sum, { count }) => sum + count, 0);

describe('a locked database', () => {
  test.each(['EXCLUSIVE', 'IMMEDIATE'] as const)(
    'by BEGIN %s: requests pass as ever, what is lost is counted as contention, and afterwards trace writes recover',
    async (how) => {
      const gateway = await serve();
      expect(statuses(await exchange(gateway, 20))).toEqual([200]);
      await settled(gateway, ({ written_total: written }) => written === 20, '20 traces');

      using lock = holdDatabase(gateway.databasePath, how);
      const during: ChatResponse[] = [];
      // One batch waits 2 s, then its first item once more: the load goes on beyond that.
      const lost = await settled(
        gateway,
        ({ write_dropped_total: dropped }) => dropped > 0,
        'a dropped trace',
        async () => during.push(...(await exchange(gateway, CLIENTS))),
      );
      expect(lost.write_failures_by_class).toEqual({ contention: lost.write_dropped_total });
      expect(lost.written_total).toBe(20);
      expect(during.length).toBeGreaterThan(50);
      expectNormal(during);
      expect(await gateway.health()).toMatchObject({ trace_count: 20, status: 'degraded', reasons: ['writes_failing'] });
      expect(dropLines(gateway)[0]).toMatchObject({
        where: 'write',
        error_class: 'contention',
        err: { message: 'database is locked', code: 'SQLITE_BUSY' },
        next_step: expect.stringContaining('docs/failure-modes.md#contention'),
      });

      lock[Symbol.dispose]();
      const after = await settled(
        gateway,
        ({ queue_depth: depth, written_total: written }) => depth === 0 && written > 20,
        'writing',
      );
      expect(after.written_total + after.total_dropped_total).toBe(after.enqueue_accepted_total + after.enqueue_dropped_total);
      const total = after.written_total;
      await exchange(gateway, 10);
      await settled(gateway, ({ written_total: written }) => written >= total + 10, 'ten more traces');
      expect((await gateway.health()).status).toBe('ok');
    },
  );

  test('for longer than the queue lasts: the newest traces are dropped and counted, and requests pass', async () => {
    const gateway = await serve({ variables: { SVC_QUEUE_CAPACITY: '64', SVC_QUEUE_BATCH: '16' } });
    using lock = holdDatabase(gateway.databasePath, 'EXCLUSIVE');
    const responses = await exchange(gateway, 400);
    const full = await settled(gateway, ({ enqueue_dropped_total: dropped }) => dropped > 0, 'a full queue');
    expect(statuses(responses)).toEqual([200]);
    expect(full.queue_depth).toBeLessThanOrEqual(64);
    expect(full.queue_capacity).toBe(64);
    lock[Symbol.dispose]();
    const after = await settled(gateway, ({ queue_depth: depth }) => depth === 0, 'an empty queue');
    expect(after.written_total + after.total_dropped_total).toBe(400);
    expect((await gateway.health()).trace_count).toBe(after.written_total);
  });

  test('does not prevent the gateway from ending, and unwritten traces are logged', async () => {
    const gateway = await serve();
    using lock = holdDatabase(gateway.databasePath, 'EXCLUSIVE');
    await exchange(gateway, 500);
    gateway.process.signal('SIGTERM');
    expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
    lock[Symbol.dispose]();
    expect(countIn(dropLines(gateway)) + storedModels(gateway.databasePath).length).toBe(500);
  });
});

describe('a full disk', () => {
  test('requests pass, lost traces are counted with their class, and with free space traces are written again', async () => {
    const gateway = await serve({ under: ['prlimit', `--fsize=${FILE_MAX_BYTES}:`] });
    const responses: ChatResponse[] = [];
    const lost = await settled(
      gateway,
      ({ write_dropped_total: dropped }) => dropped > 0,
      'a dropped trace',
      async () => responses.push(...(await exchange(gateway, 5 * CLIENTS))),
    );
    expect(lost.written_total).toBeGreaterThan(0);
    expect(dropLines(gateway)[0]).toMatchObject({
      where: 'write',
      err: { code: expect.stringMatching(/^SQLITE_(FULL|IOERR)$/), message: expect.stringMatching(/disk/) },
      next_step: expect.stringMatching(/disk.*storage\.path/),
    });
    const { timeout = 0, connection = 0, contention = 0, constraint = 0, unknown = 0 } = lost.write_failures_by_class ?? {};
    expect(connection + unknown).toBe(lost.write_dropped_total);
    expect([timeout, contention, constraint]).toEqual([0, 0, 0]);

    responses.push(...(await exchange(gateway, 200)));
    expectNormal(responses);
    expect(gateway.process.isRunning).toBe(true);
    const counted = await settled(gateway, ({ queue_depth: depth }) => depth === 0, 'an empty queue');
    expect(counted.written_total + counted.total_dropped_total).toBe(
      counted.enqueue_accepted_total + counted.enqueue_dropped_total,
    );
    expect((await gateway.health()).trace_count).toBe(counted.written_total);
    expect(await gateway.traces()).toHaveLength(counted.written_total);

    // Also without traffic, because a test write of the size of a trace fails too.
    for (let looks = 0; looks < 7; looks += 1) {
      expect(await gateway.health()).toMatchObject({ status: 'degraded', reasons: ['writes_failing'] });
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    await promisify(execFile)('prlimit', ['--pid', String(gateway.process.pid), '--fsize=unlimited:']);
    await waitUntil(async () => (await gateway.health()).status === 'ok', { what: 'health' });
    await exchange(gateway, 10);
    const after = await settled(gateway, ({ written_total: written }) => written >= counted.written_total + 10, 'traces again');
    gateway.process.signal('SIGTERM');
    expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
    expect(storedModels(gateway.databasePath)).toHaveLength(after.written_total);
    expect(countIn(dropLines(gateway))).toBe(after.total_dropped_total);
  });
});
