import { command, stringOption, type CommandLine } from '@vitrine/command-line/command';
import { wholeNumberOption } from '@vitrine/command-line/option-values';
import { Fault } from '@vitrine/faults/fault';
import { demoText } from './demo-text.ts';
import { sendTraffic } from './demo-traffic.ts';
import { engineError } from './environment.ts';
import { startPipeline, type RunningPipeline } from './pipeline.ts';

const DEFAULT_RATE = 2;
const MAX_RATE = 50;

/** `npm run demo:pipeline`. `whyNoEngine`: why no container can be started. */
export const demoCommandLine = (whyNoEngine: () => Promise<string | undefined> = engineError): CommandLine => ({
  name: 'demo:pipeline',
  defaultCommand: 'start',
  commands: [
    command({
      name: 'start',
      summary: 'Runs two gateways, Kafka, two trace-writers, Postgres and mock providers in containers until Ctrl+C.',
      options: { rate: stringOption('N', `exchanges that are sent a second, 1 to ${MAX_RATE}; ${DEFAULT_RATE} by default`) },
      help: `It needs npm ci and a container engine that responds to the docker command. The first run builds three images and pulls three more
(VITRINE_IMAGE_KAFKA, VITRINE_IMAGE_POSTGRES and VITRINE_IMAGE_NODE name others). It prints lines to paste, and removes everything at Ctrl+C.`,
      examples: ['npm run demo:pipeline', 'npm run demo:pipeline -- --rate 20'],
      run: async ({ values }, { stdout, untilSignal }) => {
        const perSecond = wholeNumberOption('--rate', values.rate, 1, MAX_RATE) ?? DEFAULT_RATE;
        await requireEngine(whyNoEngine);
        const stop = new AbortController();
        void untilSignal().then(() => {
          stdout.write('\nRemoving all containers; this takes some seconds.\n');
          stop.abort();
        });
        const { signal } = stop;
        try {
          const startedAt = performance.now();
          const onStep = (what: string) =>
            stdout.write(`${Math.round((performance.now() - startedAt) / 1_000)} s: ${what}\n`.padStart(8));
          await using pipeline = await startPipeline({ onStep, signal });
          await show(pipeline, { perSecond, signal, stdout });
        } catch (error) {
          if (!signal.aborted) throw error;
        }
        stdout.write('All containers are removed.\n');
        return 0;
      },
    }),
  ],
});

async function requireEngine(whyNoEngine: () => Promise<string | undefined>): Promise<void> {
  const reason = await whyNoEngine();
  if (reason === undefined) return;
  throw new Fault('no_container_engine', {
    say: `no container engine responds: ${reason}
Start one (Docker Desktop, or "sudo systemctl start docker"), or set DOCKER_HOST to one that runs; "docker ps" must work. Then start this again.
Without containers, "npm start -- --demo" runs one gateway with mock providers.`,
  });
}

interface Showing {
  readonly perSecond: number;
  readonly signal: AbortSignal;
  readonly stdout: { write(text: string): void };
}

async function show(pipeline: RunningPipeline, { perSecond, signal, stdout }: Showing): Promise<void> {
  const token = await pipeline.createOwnerKey();
  stdout.write(demoText(pipeline, token, perSecond));
  const gatewayUrls = pipeline.gateways.map(({ url }) => url);
  const { completed, failed } = await sendTraffic({ gatewayUrls, token, perSecond, signal });
  const traces = await pipeline.sql('SELECT count(*) FROM traces');
  stdout.write(`${completed} exchanges were sent and ${failed} failed; Postgres has ${traces} traces.\n`);
}
