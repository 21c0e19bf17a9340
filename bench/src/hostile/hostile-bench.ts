import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench, BenchOutcome, Progress } from '../bench.ts';
import { startGateway } from '../proxy/gateway-process.ts';
import { checkoutOf, whole } from '../proxy/proxy-plan.ts';
import { hostileClients } from './hostile-clients.ts';
import { hostileResponse, hostileProviders } from './hostile-providers.ts';
import { startHostileProvider } from './hostile-provider.ts';
import { HostileSession } from './hostile-session.ts';

interface Plan {
  readonly requests: number;
  readonly responses: number;
  readonly seed: number;
  readonly first: number;
  readonly checkout?: URL | undefined;
}

const OPTIONS = [
  ['--requests N', 'hostile requests (default 100000)'],
  ['--responses N', 'hostile responses of the provider (default 100000)'],
  ['--seed N', 'other cases (default 1). A case is the same whenever seed and number are'],
  ['--checkout DIR', 'the gateway of another checkout (installed), to see what broke it'],
  ['--first N', 'the number of the first case (default 0): to repeat one by itself'],
] as const;

const CLIENTS = 256;
/** Many cases wait for the gateway's provider timeout. */
const EXCHANGES = 256;
const PROVIDER_TIMEOUT_MS = 1_000;

/** Whether a gateway withstands hostile clients and providers. Every case that breaks a promise is printed with its number. */
export const hostileBench: Bench = {
  name: 'hostile',
  sentence: 'generated hostile requests and hostile responses against a gateway, counted by kind',
  options: OPTIONS,
  examples: [
    'hostile',
    'hostile --requests 1000000 --responses 1000000',
    'hostile --requests 1 --responses 0 --seed 1 --first 4711',
  ],
  prepare(args) {
    const plan = readPlan(args);
    return 'problem' in plan ? plan : { run: (progress) => runHostile(plan, progress) };
  },
};

function readPlan(args: readonly string[]): Plan | { readonly problem: string } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        requests: { type: 'string', default: '100000' },
        responses: { type: 'string', default: '100000' },
        seed: { type: 'string', default: '1' },
        first: { type: 'string', default: '0' },
        checkout: { type: 'string' },
      },
    });
    return {
      requests: whole('--requests', values.requests, 0),
      responses: whole('--responses', values.responses, 0),
      seed: whole('--seed', values.seed, 0),
      first: whole('--first', values.first, 0),
      checkout: checkoutOf(values.checkout),
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Plays both sides, one after the other, each against a separate gateway. */
export async function runHostile(plan: Plan, progress: Progress): Promise<BenchOutcome> {
  const outcomes: BenchOutcome[] = [];
  if (plan.requests > 0) outcomes.push(await runSide('requests', plan, progress));
  if (plan.responses > 0) outcomes.push(await runSide('responses', plan, progress));
  return { rows: outcomes.flatMap(({ rows }) => rows), broken: outcomes.flatMap(({ broken }) => broken) };
}

async function runSide(
  name: 'requests' | 'responses',
  { requests, responses, seed, first, checkout }: Plan,
  progress: Progress,
): Promise<BenchOutcome> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'vitrine-hostile-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  const sound = {
    bytes: Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'),
    ending: 'keep' as const,
  };
  const provider = stack.use(
    await startHostileProvider(({ target }) => (name === 'requests' ? sound : hostileResponse(seed, target))),
  );
  const gateway = await startGateway({
    home,
    checkout,
    upstream: `http://127.0.0.1:${provider.port}`,
    variables: {
      SVC_TRACING_CAPTURE_BODIES: 'true',
      SVC_PROXY_FIRST_BYTE_TIMEOUT_MS: String(PROVIDER_TIMEOUT_MS),
      SVC_PROXY_IDLE_TIMEOUT_MS: String(PROVIDER_TIMEOUT_MS),
    },
  });
  stack.defer(() => gateway.stop());
  const session = new HostileSession(gateway, provider, progress);
  try {
    if (name === 'requests') await session.run(hostileClients(session, gateway.port, provider, seed, CLIENTS), first, requests);
    else await session.run(hostileProviders(session, gateway.port, seed, EXCHANGES), first, responses);
  } catch (error) {
    session.found('the gateway did not respond any more', `${String(error)}; the end of its log:\n${await gateway.logTail()}`);
  }
  const log = await gateway.errors();
  for (const line of log) session.found('an error in the log', line);
  return { rows: session.rows(), broken: session.broken() };
}
