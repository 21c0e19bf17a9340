import { expect, test } from '@jest/globals';
import { describeWithContainers } from '../describe-with-containers.ts';
import { runChaos, scenarioOf } from './chaos-command.ts';

/** 40 s on an idle machine. */
const RUN_TIMEOUT_MS = 270_000;
const TEST_TIMEOUT_MS = 300_000;

await describeWithContainers('a short run of the chaos suite', () => {
  test(
    'each trace is stored once when the connection to the broker is cut and when a gateway is killed',
    async () => {
      const { results, failed } = await runChaos({
        scenarios: [scenarioOf('connection-cut'), scenarioOf('gateway-killed')],
        seconds: 5,
        rate: 100,
        drainSeconds: 60,
        signal: AbortSignal.timeout(RUN_TIMEOUT_MS),
        onProgress: () => {},
      });
      expect(failed).toEqual([]);
      expect(results.map(({ scenario, broken }) => ({ scenario, broken }))).toEqual([
        { scenario: 'connection-cut', broken: [] },
        { scenario: 'gateway-killed', broken: [] },
      ]);
      expect(results.every(({ answered }) => answered > 100)).toBe(true);
    },
    TEST_TIMEOUT_MS,
  );
});
