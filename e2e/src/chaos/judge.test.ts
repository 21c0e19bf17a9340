import { expect, test } from '@jest/globals';
import { judge, type Findings } from './judge.ts';

const KILLED_AT = 1_000_000;

const exchange = (id: string, more: object = {}) => ({ id, gateway: 0, status: 200, tokens: 10, endedAt: KILLED_AT, ...more });
const trace = (id: string | null, tokens = 10) => ({ id, tokens });

const HELD: Findings = {
  exchanges: [exchange('a'), exchange('b', { gateway: 1 }), exchange('no-response', { status: 0, tokens: 0 })],
  stored: [trace('a'), trace('b')],
  killedAt: [[], []],
  queueCapacity: 1,
  rollUpDifferences: new Map([['day_usage', 0]]),
  quotaDifferences: [],
  countedDrops: 0,
  deadLetters: 0,
  isDrained: true,
  mayDrop: false,
};

const brokenBy = (change: Partial<Findings>) => judge({ ...HELD, ...change }).broken;

test('a run holds when each response has one trace and all sums agree; an exchange without a response may have one', () => {
  const none = { refused: 0, missing: 0, lostWithGateway: 0, twice: 0, broken: [] };
  expect(judge(HELD)).toEqual({ ...none, sent: 3, answered: 2, inPostgres: 2 });
  expect(brokenBy({ stored: [...HELD.stored, trace('no-response', 12)] })).toEqual([]);
});

test.each<[string, Partial<Findings>, RegExp]>([
  ['a missing trace', { stored: [trace('a')] }, /^1 exchanges have no trace: b$/],
  ['a trace that is there twice', { stored: [trace('a'), trace('b'), trace('b')] }, /^1 exchanges have several traces: b$/],
  ['a trace of no request', { stored: [...HELD.stored, trace('c')] }, /^1 traces belong to no request: c$/],
  ['a trace without its bodies', { stored: [...HELD.stored, trace(null)] }, /^1 traces belong to no request: without bodies$/],
  ['other tokens than the response', { stored: [trace('a', 11), trace('b')] }, /^1 traces have other tokens.*: a$/],
  ['a wrong sum', { rollUpDifferences: new Map([['day_usage', 2]]) }, /^day_usage: 2 rows differ/],
  ['a wrong quota', { quotaDifferences: ['key-1'] }, /^quotas count other usage than traces have: key-1$/],
  ['a counted drop', { countedDrops: 1 }, /^1 traces were counted as dropped, and 0 are missing$/],
  ['a dead letter', { deadLetters: 1 }, /^1 records are in the dead letter topic$/],
  ['a wait that was too short', { isDrained: false }, /^traces were still under way/],
])('%s is found', (_, change, sentence) => {
  expect(brokenBy(change)).toEqual([expect.stringMatching(sentence)]);
});

test('a run without a response proves nothing', () => {
  expect(brokenBy({ exchanges: [], stored: [] })).toEqual(['no exchange got a response']);
});

test('a killed gateway may lose its queue: responses that ended just before', () => {
  const killed = { stored: [trace('b')], killedAt: [[KILLED_AT + 500], []] };
  expect(judge({ ...HELD, ...killed })).toMatchObject({ missing: 0, lostWithGateway: 1, broken: [] });
  expect(brokenBy({ ...killed, killedAt: [[], [KILLED_AT + 500]] })).toEqual(['1 exchanges have no trace: a']);
  for (const at of [KILLED_AT + 60_000, KILLED_AT - 1_000])
    expect(brokenBy({ ...killed, killedAt: [[at], []] })).toEqual(['1 exchanges have no trace: a']);
  expect(brokenBy({ ...killed, queueCapacity: 0 })).toEqual(['1 traces were lost with gateways, whose queues hold 0']);
});

test('where traces may be dropped, each missing one must be counted', () => {
  const dropped = { stored: [trace('b')], mayDrop: true };
  expect(brokenBy({ ...dropped, countedDrops: 1 })).toEqual([]);
  expect(brokenBy({ ...dropped, countedDrops: 0 })).toEqual(['0 traces were counted as dropped, and 1 are missing']);
});
