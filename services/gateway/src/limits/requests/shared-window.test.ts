import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import fc from 'fast-check';
import type { AllotmentReport } from '../shared-quotas/allotment-ledger.ts';
import { InMemoryAllotmentLedger } from '../testing/in-memory-allotment-ledger.ts';
import { fairShares, SharedWindow } from './shared-window.ts';

const TIMES = { windowMs: 60_000, leaseMs: 10_000 };
const REPORT_INTERVAL_MS = 1_000;

/** Processes on one simulated clock, each with its window of the same limit. */
class World {
  readonly ledger = new InMemoryAllotmentLedger(TIMES);
  readonly processes: SimulatedProcess[] = [];
  readonly passed: number[] = [];
  now = 0;

  start(limit: number): SimulatedProcess {
    const process = new SimulatedProcess(this, `p${this.processes.length}`, limit);
    this.processes.push(process);
    return process;
  }

  /** The most that was admitted in any 60 s. */
  get most(): number {
    let from = 0;
    return Math.max(
      0,
      ...this.passed.map((at, i) => {
        while ((this.passed[from] ?? 0) <= at - TIMES.windowMs) from += 1;
        return i - from + 1;
      }),
    );
  }

  within(from: number, to: number): number {
    return this.passed.filter((at) => at >= from && at < to).length;
  }
}

class SimulatedProcess {
  readonly #world: World;
  readonly #name: string;
  readonly #limit: number;
  readonly #window = new SharedWindow('limit', TIMES);
  #sequence = 0;
  isDatabaseAway = false;

  constructor(world: World, name: string, limit: number) {
    this.#world = world;
    this.#name = name;
    this.#limit = limit;
  }

  get allotted(): number {
    return this.#window.allotted;
  }

  request(): boolean {
    if (this.#window.state(this.#limit, this.#world.now) === 'report') {
      this.#window.waiting += 1;
      this.report();
      this.#window.waiting -= 1;
    }
    if (this.#window.state(this.#limit, this.#world.now) !== 'free') {
      this.#window.reject(this.#world.now);
      return false;
    }
    this.#window.add(this.#world.now);
    this.#world.passed.push(this.#world.now);
    return true;
  }

  report(): void {
    const { deliver } = this.send();
    deliver();
  }

  /** A report that reaches the ledger late or never, and likewise its response. */
  send(): { readonly arrive: () => void; readonly deliver: () => void } {
    this.#sequence += 1;
    const [sequence, sentAt] = [this.#sequence, this.#world.now];
    const reports: AllotmentReport[] = this.isDatabaseAway ? [] : [this.#window.report(sentAt)];
    let response: ReturnType<InMemoryAllotmentLedger['report']> | undefined;
    const arrive = () => (response ??= this.#world.ledger.report(this.#name, sequence, reports, this.#world.now));
    const deliver = () => {
      arrive();
      const allotment = response?.[0];
      if (allotment !== undefined && sequence === this.#sequence) this.#window.confirm(allotment, sentAt);
    };
    return { arrive, deliver };
  }
}

/** An event at `process`, after a pause. */
const step = fc.record({
  pauseMs: fc.oneof({ weight: 9, arbitrary: fc.nat(300) }, { weight: 1, arbitrary: fc.nat(20_000) }),
  process: fc.nat(3),
  kind: fc.constantFrom('requests', 'requests', 'requests', 'report', 'send', 'arrive', 'deliver', 'kill', 'database'),
  count: fc.integer({ min: 1, max: 30 }),
});

describe('windows of several processes', () => {
  test('never admit more than the limit in any 60 s, despite losses, delays, kills and restarts', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.array(step, { minLength: 50, maxLength: 300, size: 'max' }),
        (limit, steps) => {
          const world = new World();
          const running = [0, 1, 2, 3].map(() => world.start(limit));
          const calls = running.map((): ReturnType<SimulatedProcess['send']>[] => []);
          for (const { pauseMs, process: i, kind, count } of steps) {
            world.now += pauseMs;
            const process = running[i] as SimulatedProcess;
            const sent = calls[i] ?? [];
            if (kind === 'requests') for (let n = 0; n < count; n += 1) process.request();
            if (kind === 'report') process.report();
            if (kind === 'send') sent.push(process.send());
            if (kind === 'arrive') sent[count % Math.max(1, sent.length)]?.arrive();
            if (kind === 'deliver') sent[count % Math.max(1, sent.length)]?.deliver();
            if (kind === 'kill') [running[i], calls[i]] = [world.start(limit), []];
            if (kind === 'database') process.isDatabaseAway = !process.isDatabaseAway;
          }
          expect(world.most).toBeLessThanOrEqual(limit);
        },
      ),
      { numRuns: propertyRuns(300) },
    );
  });

  test('under constant overload admit at least 95 % of the limit in every minute after the first, in any distribution', () => {
    const shapes = fc.record({
      limit: fc.integer({ min: 60, max: 1_200 }),
      // Requests of each process in 100 ms: together more than any limit.
      loads: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 2, maxLength: 6 }).map((loads) => [...loads, 8]),
      offsets: fc.array(fc.nat(9), { minLength: 7, maxLength: 7 }),
    });
    fc.assert(
      fc.property(shapes, ({ limit, loads, offsets }) => {
        const world = new World();
        const processes = loads.map(() => world.start(limit));
        for (let tick = 0; tick < 3_000; tick += 1) {
          world.now = tick * 100;
          for (const [i, process] of processes.entries()) {
            if (tick % (REPORT_INTERVAL_MS / 100) === offsets[i]) process.report();
            for (let n = 0; n < (loads[i] ?? 0); n += 1) process.request();
          }
        }
        const minutes = [1, 2, 3, 4].map((minute) => world.within(minute * 60_000, (minute + 1) * 60_000));
        expect(world.most).toBeLessThanOrEqual(limit);
        expect(Math.min(...minutes)).toBeGreaterThanOrEqual(Math.floor(0.95 * limit));
      }),
      { numRuns: 15 },
    );
  });

  test('an idle process returns its part with its reports, and a killed one keeps it for lease and minute', () => {
    const world = new World();
    const [one, two] = [world.start(600), world.start(600)];
    const overload = (process: SimulatedProcess) => Array.from({ length: 700 }, () => process.request()).filter(Boolean).length;
    expect(overload(one)).toBe(600);
    expect(overload(two)).toBe(0);
    // The reservation halves with each report without requests.
    for (world.now = 60_000; world.now < 72_000; world.now += 1_000) one.report();
    expect(one.allotted).toBe(0);
    two.report();
    expect(overload(two)).toBe(600);
    const third = world.start(600);
    expect(overload(third)).toBe(0);
    world.now += 70_001;
    expect(overload(third)).toBe(600);
  });

  test('without the database a process uses its allotment for the lease, and then asks again', () => {
    const world = new World();
    const process = world.start(600);
    expect(process.request()).toBe(true);
    process.isDatabaseAway = true;
    world.now = 10_000;
    const passed = () => Array.from({ length: 20 }, () => process.request()).filter(Boolean).length;
    expect(passed()).toBeGreaterThan(0);
    world.now = 10_001;
    expect(passed()).toBe(0);
    process.isDatabaseAway = false;
    expect(passed()).toBe(20);
  });
});

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

test.each([
  [600, [600, 600, 600], [200, 200, 200]],
  [10, [600, 600, 600], [4, 3, 3]],
  [600, [50, 600, 100], [50, 450, 100]],
  [600, [1, 2, 3], [1, 2, 3]],
  [0, [5, 5], [0, 0]],
  [5, [], []],
])('%s among demands of %j: %j', (limit, demands, shares) => {
  expect(fairShares(limit, demands)).toEqual(shares);
});

test('shares add up to the limit or to all demands, and unmet demands get the largest share, or one less', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.array(fc.nat(500), { maxLength: 20 }), (limit, demands) => {
      const shares = fairShares(limit, demands);
      expect(sum(shares)).toBe(Math.min(limit, sum(demands)));
      const most = Math.max(0, ...shares);
      expect(demands.filter((demand, i) => (shares[i] ?? 0) > demand)).toEqual([]);
      expect(shares.filter((share, i) => share < (demands[i] ?? 0) && share < most - 1)).toEqual([]);
    }),
  );
});
