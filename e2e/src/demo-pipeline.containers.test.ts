import { expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { describeWithContainers } from './describe-with-containers.ts';
import { commandsIn, paste } from './printed-commands.ts';
import { startProcess } from './running-process.ts';

const START_TIMEOUT_MS = 900_000;
const END_WITHIN_MS = 60_000;
const CONTAINERS = 7;
/** Variables with the location of the engine and its images. */
const ENGINE_VARIABLES = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /^(?:DOCKER_|TESTCONTAINERS_|VITRINE_IMAGE_)/.test(name)),
) as Record<string, string>;

await describeWithContainers('npm run demo:pipeline', () => {
  test(
    'what it prints can be pasted, and Ctrl+C removes all of its containers',
    async () => {
      await using stop = new AsyncDisposableStack();
      const demo = startProcess({ command: ['npm', 'run', 'demo:pipeline'], env: ENGINE_VARIABLES });
      stop.use(demo);
      // A test that fails leaves no containers either.
      stop.defer(async () => {
        demo.signal('SIGINT', 'group');
        await demo.end(END_WITHIN_MS);
      });
      await waitUntil(() => !demo.isRunning || demo.stdout.includes('Stop it with Ctrl+C'), {
        what: 'the pipeline',
        timeoutMs: START_TIMEOUT_MS,
      });
      const printed = demo.stdout;
      if (!printed.includes('Stop it with Ctrl+C')) throw new Error(`the demo did not start: ${printed}\n${demo.stderr}`);
      const names = [...printed.matchAll(/^ {3}(\S+) +(?:gateway|trace-writer|Kafka|Postgres|mock)/gm)].map(([, name]) => name);
      expect(await runningOf(names)).toHaveLength(CONTAINERS);

      const [send = '', list = '', costs = '', ...others] = commandsIn(printed, 'curl');
      expect(JSON.parse(await paste(send))).toMatchObject({ object: 'chat.completion', model: 'gpt-4o' });
      const isListed = async () => (JSON.parse(await paste(list)) as { readonly items: readonly object[] }).items[0];
      expect(await waitUntil(isListed, { what: 'the trace' })).toMatchObject({ model: 'gpt-4o', response_status: 200 });
      // The demo's own traffic.
      await waitUntil(async () => (await paste(costs)).includes('claude-sonnet-5'), { what: 'costs of both providers' });
      for (const other of others) expect(JSON.parse(await paste(other))).toBeInstanceOf(Object);
      expect(others.map((other) => other.split('/').at(3)?.split(' ')[0])).toEqual(['api', 'api', 'api']);
      const [query = ''] = commandsIn(printed, 'docker exec');
      expect(await paste(query)).toMatch(/gpt-4o-mini +\| +\d+ \| +\d+ \| 0\.\d+/);

      demo.signal('SIGINT', 'group');
      expect(await demo.end(END_WITHIN_MS)).toMatchObject({ code: 0 });
      expect(demo.stdout).toMatch(
        /\d+ exchanges were sent and 0 failed; Postgres has \d+ traces\.\nAll containers are removed\.\n$/,
      );
      expect(await runningOf(names)).toEqual([]);
    },
    START_TIMEOUT_MS,
  );
});

async function runningOf(names: readonly (string | undefined)[]): Promise<string[]> {
  const all = (await paste('docker ps -a --format "{{.Names}}"')).split('\n');
  return all.filter((name) => names.includes(name));
}
