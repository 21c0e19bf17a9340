import { expect, test } from '@jest/globals';
import type { TopicResult } from '@vitrine/kafka/ensure-topics';
import { keepTopics } from './topics-command.ts';

const settings = { topic: 'a', partitions: 1, replicationFactor: 1, retentionMs: 1, maxMessageBytes: 1 };
const found = (result: TopicResult['result']): readonly TopicResult[] => [{ result, settings, differences: [] }];

/** The reports of these rounds. */
async function reportOf(...rounds: readonly (TopicResult['result'] | Error)[]): Promise<readonly string[]> {
  const stop = new AbortController();
  const said: string[] = [];
  const left = rounds.values();
  await keepTopics({
    ensure: () => {
      const { value: round, done } = left.next();
      if (done === true) stop.abort();
      if (round instanceof Error) return Promise.reject(round);
      return Promise.resolve(round === undefined ? [] : found(round));
    },
    intervalMs: 1,
    signal: stop.signal,
    onResults: (results) => said.push(...results.map(({ result }) => result)),
    onError: (message) => said.push(message),
  });
  return said;
}

test('missing topics are created again, and only that is reported', async () => {
  expect(await reportOf('created', 'exists', 'created', 'exists', 'partitions_added')).toEqual([
    'created',
    'created',
    'partitions_added',
  ]);
  expect(await reportOf('exists', 'exists')).toEqual(['exists']);
});

test('an error is reported once until it passes, and does not end the loop', async () => {
  const away = new Error('no broker');
  expect(await reportOf(away, away, new Error('refused'), 'created', away)).toEqual([
    'no broker',
    'refused',
    'created',
    'no broker',
  ]);
});
