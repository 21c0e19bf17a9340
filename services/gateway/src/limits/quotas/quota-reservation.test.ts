import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import fc from 'fast-check';
import { DayAccounts, type DayAccount } from './day-accounts.ts';
import { QuotaReservation } from './quota-reservation.ts';
import { scopeNames } from '../requests/request-counter.ts';
import { InMemoryQuotaGrants, quotaKey } from '../testing/in-memory-quota-grants.ts';

const DAY = '2026-03-01';
const LEASE_MS = 10_000;
const names = scopeNames('org', 'ws', 'gk_1');
const quota = quotaKey(DAY, { name: names.key, unit: 'tokens' });

interface Exchange {
  readonly tokens: number;
}

/** One process that uses the quota of one key. Its grants and its clock come from `world`. */
class Process {
  readonly #world: World;
  readonly #account: DayAccount;
  readonly reservation: QuotaReservation;
  readonly inFlight: Exchange[] = [];
  /** Usage in flight after the last admission. It includes exchanges that have ended but are not settled, because their usage is unknown. */
  lastInFlight: readonly Exchange[] = [];
  readonly #ended: Exchange[] = [];
  readonly #id: string;
  #sequence = 0;

  constructor(world: World, id: string) {
    this.#world = world;
    this.#id = id;
    const account = new DayAccounts(DAY).of(names)?.key;
    if (account === undefined) throw new Error('no account');
    this.#account = account;
    this.reservation = new QuotaReservation(names.key, 'tokens', account, LEASE_MS);
  }

  /** A request: true when it was admitted. Waits as `SharedQuotas` does. */
  request(exchange: Exchange): boolean {
    let isSettled = false;
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const state = this.reservation.state(this.#world.limit, this.#world.now, isSettled);
      if (state === 'free') return this.#admit(exchange);
      if (state === 'used up' || state === 'reserved') return false;
      if (state === 'unsettled') this.settle();
      else this.#reportWaiting();
      isSettled ||= state === 'unsettled';
    }
    return false;
  }

  /** One exchange from its request to its settlement. */
  use(exchange: Exchange): void {
    if (!this.request(exchange)) return;
    while (this.inFlight.length > 0) this.end();
    this.settle();
  }

  #reportWaiting(): void {
    this.reservation.waiting = 1;
    this.report();
    this.reservation.waiting = 0;
  }

  #admit(exchange: Exchange): true {
    this.inFlight.push(exchange);
    this.lastInFlight = [...this.#ended, ...this.inFlight];
    return true;
  }

  end(): void {
    const exchange = this.inFlight.shift();
    if (exchange === undefined) return;
    this.#account.unsettled += 1;
    this.#ended.push(exchange);
  }

  settle(): void {
    for (const { tokens } of this.#ended.splice(0)) {
      this.#account.own.tokens += tokens;
      this.#account.largest.tokens = Math.max(this.#account.largest.tokens, tokens);
      this.#account.unsettled -= 1;
      this.#world.used += tokens;
    }
    if (!this.#world.storesLate) this.#world.store();
  }

  /** `loses`: the report, its response, or neither. */
  report(loses?: 'report' | 'response', isLast = false): void {
    const sentAt = this.#world.now;
    const report = this.reservation.report(sentAt, isLast);
    this.#sequence += 1;
    if (loses === 'report') return;
    const grant = this.#world.grants.reportOne({ process: this.#id, day: DAY }, this.#sequence, report);
    if (grant !== undefined && loses === undefined) this.reservation.confirm(grant, sentAt);
  }
}

class World {
  now = 0;
  used = 0;
  readonly limit: number;
  readonly storesLate: boolean;
  readonly grants = new InMemoryQuotaGrants(LEASE_MS, () => this.now);
  readonly all: Process[] = [];
  readonly processes: Process[];

  constructor(limit: number, storesLate: boolean) {
    this.limit = limit;
    this.storesLate = storesLate;
    this.processes = [0, 1, 2].map(() => this.#start());
  }

  store(): void {
    this.grants.stored.set(quota, this.used);
  }

  /** Another process replaces one that was killed with everything in flight. */
  replace(at: number): void {
    this.processes[at] = this.#start();
  }

  #start(): Process {
    const process = new Process(this, String(this.all.length));
    this.all.push(process);
    return process;
  }
}

const step = fc.record({
  kind: fc.constantFrom('use', 'use', 'use', 'request', 'request', 'end', 'end', 'settle', 'report', 'lose', 'other', 'store'),
  at: fc.nat(2),
  tokens: fc.integer({ min: 1, max: 30 }),
  loses: fc.constantFrom('report' as const, 'response' as const),
});
const script = fc.record({
  limit: fc.integer({ min: 1, max: 600 }),
  steps: fc.array(step, { minLength: 20, maxLength: 150, size: 'max' }),
});

/** Plays the steps, ends all remaining exchanges, and returns the allowed excess over the limit. */
function play(
  world: World,
  steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
  other: (at: number, tokens: number) => void,
) {
  for (const { kind, at, tokens, loses } of steps) {
    const process = world.processes[at] as Process;
    if (kind === 'request') process.request({ tokens });
    else if (kind === 'use') process.use({ tokens });
    else if (kind === 'end') process.end();
    else if (kind === 'settle') process.settle();
    else if (kind === 'report') process.report();
    else if (kind === 'lose') process.report(loses);
    else if (kind === 'store') world.store();
    else other(at, tokens);
  }
  for (const process of world.processes) {
    while (process.inFlight.length > 0) process.end();
    process.settle();
  }
  return world.all.flatMap(({ lastInFlight }) => lastInFlight).reduce((sum, { tokens }) => sum + tokens, 0);
}

describe('reservations of several processes under any order of requests, settlements, reports and losses', () => {
  test('exceed a quota by at most the usage in flight, also when processes are killed and time passes', () => {
    fc.assert(
      fc.property(script, ({ limit, steps }) => {
        const world = new World(limit, false);
        const inFlight = play(world, steps, (at, tokens) => {
          if (tokens % 2 === 0) world.replace(at);
          else world.now += tokens * 500;
        });
        expect(world.used).toBeLessThanOrEqual(limit + inFlight);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('also when traces are stored late and processes are replaced', () => {
    fc.assert(
      fc.property(script, ({ limit, steps }) => {
        const world = new World(limit, true);
        const inFlight = play(world, steps, (at) => {
          const process = world.processes[at] as Process;
          while (process.inFlight.length > 0) process.end();
          process.settle();
          process.report(undefined, true);
          world.replace(at);
        });
        expect(world.used).toBeLessThanOrEqual(limit + inFlight);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('use the whole quota: a lease after the others stop, one process admits until nothing is left', () => {
    fc.assert(
      fc.property(script, ({ limit, steps }) => {
        const world = new World(limit, false);
        play(world, steps, (at) => world.replace(at));
        world.now += 2 * LEASE_MS;
        const last = world.processes[0] as Process;
        const tokens = Math.ceil(limit / 50);
        for (let i = 0; i < 100 && world.used < limit; i += 1) {
          last.report();
          if (last.request({ tokens })) last.end();
          last.settle();
        }
        expect(world.used).toBeGreaterThanOrEqual(limit);
        last.report();
        expect(last.reservation.state(limit, world.now)).toBe('used up');
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});

describe('a reservation', () => {
  test('is renewed while it is in use, and returned a minute after the last request', () => {
    const world = new World(6_400, false);
    const [process] = world.processes as [Process];
    process.request({ tokens: 1 });
    expect(process.reservation.allotted).toBe(100);
    expect(process.reservation.isDue(world.now)).toBe(false);
    world.now += 4_000;
    expect(process.reservation.isDue(world.now)).toBe(true);
    for (; world.now <= 60_000; world.now += 4_000) process.report();
    expect(process.reservation.allotted).toBe(100);
    world.now += 1_000;
    process.report();
    expect([process.reservation.allotted, process.reservation.isDue(world.now)]).toEqual([0, false]);
  });

  test('covers the usage of two intervals, and at most a part of what is left', () => {
    const world = new World(100_000, false);
    const [process] = world.processes as [Process];
    const use = (tokens: number) => {
      expect(process.request({ tokens })).toBe(true);
      process.end();
      process.settle();
      process.report();
      return process.reservation.allotted - world.used;
    };
    use(1);
    expect(use(5_000)).toBe(2 * 5_000 + 1_562);
    expect(use(90_000)).toBe(Math.floor((100_000 - 95_001) / 2));
  });

  test('is not requested again within an interval after an empty grant', () => {
    const world = new World(100, false);
    const [one, two] = world.processes as [Process, Process];
    one.report();
    one.reservation.state(100, world.now);
    one.reservation.waiting = 1;
    one.report();
    // The first process has reserved the whole quota.
    const grant = { allotted: 100, reported: 0, stored: 0, processes: 1 };
    world.grants.reportOne({ process: '0', day: DAY }, 99, {
      name: names.key,
      unit: 'tokens',
      limit: 100,
      used: 0,
      held: 0,
      wanted: 100,
    });
    one.reservation.confirm(grant, world.now);
    expect(two.request({ tokens: 1 })).toBe(false);
    expect(two.reservation.state(100, world.now)).toBe('reserved');
    expect(two.reservation.isDue(world.now)).toBe(true);
  });
});
