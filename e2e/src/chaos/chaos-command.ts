import {
  command,
  stringOption,
  switchOption,
  type CommandContext,
  type CommandLine,
  usageError,
} from '@vitrine/command-line/command';
import { errorChain } from '@vitrine/faults/error-chain';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChaosServers } from './chaos-servers.ts';
import { resultTable } from './result-table.ts';
import { runScenario, type ScenarioResult } from './run-scenario.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';

const DEFAULT_SECONDS = 60;
const DEFAULT_RATE = 500;
const DEFAULT_DRAIN_SECONDS = 180;

export interface ChaosOptions {
  readonly scenarios: readonly Scenario[];
  readonly seconds: number;
  /** Exchanges a second. */
  readonly rate: number;
  readonly drainSeconds: number;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

/** `npm run chaos`. */
export const chaosCommandLine: CommandLine = {
  name: 'chaos',
  defaultCommand: 'run',
  commands: [
    command({
      name: 'run',
      summary: 'Breaks Kafka, Postgres, gateways and trace-writers under load, and counts whether each trace is stored once.',
      options: {
        scenarios: stringOption('A,B', 'which of them; all by default'),
        seconds: stringOption('N', `of load in each scenario; ${DEFAULT_SECONDS} by default`),
        rate: stringOption('N', `exchanges a second, whatever the responses do; ${DEFAULT_RATE} by default`),
        'drain-seconds': stringOption('N', `how long to wait until the topic is empty; ${DEFAULT_DRAIN_SECONDS} by default`),
        json: switchOption('prints the results as JSON; progress goes to standard error either way'),
      },
      help: `Scenarios:
${SCENARIOS.map(({ name, summary }) => `  ${name.padEnd(24)}${summary}`).join('\n')}

Needs a container engine. Exits with 1 when a scenario failed.`,
      run: async ({ values }, context) => {
        const startedAt = performance.now();
        const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4);
        const { results, failed } = await runChaos({
          scenarios: scenariosOf(values.scenarios),
          seconds: numberOf('--seconds', values.seconds, DEFAULT_SECONDS),
          rate: numberOf('--rate', values.rate, DEFAULT_RATE),
          drainSeconds: numberOf('--drain-seconds', values['drain-seconds'], DEFAULT_DRAIN_SECONDS),
          signal: abortOnSignal(context),
          onProgress: (line) => context.stderr.write(`${seconds()} s  ${line}\n`),
        });
        const output = values.json === true ? `${JSON.stringify({ results, failed }, undefined, 2)}\n` : resultTable(results);
        context.stdout.write(output);
        return failed.length === 0 && results.every(({ broken }) => broken.length === 0) ? 0 : 1;
      },
    }),
  ],
};

export interface ChaosResults {
  readonly results: readonly ScenarioResult[];
  /** Scenarios that could not be completed. */
  readonly failed: readonly string[];
}

/** Runs scenarios one after another. Logs of failed ones are kept; their folder is in the progress. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResults> {
  const { scenarios, drainSeconds, onProgress } = options;
  const folder = await mkdtemp(join(tmpdir(), 'vitrine-chaos-'));
  const results: ScenarioResult[] = [];
  const failed: string[] = [];
  {
    onProgress('starting Kafka and Postgres');
    await using servers = await startChaosServers();
    for (const [at, scenario] of scenarios.entries()) {
      const name = `chaos-${at}-${scenario.name}`;
      const report = (line: string) => onProgress(`${scenario.name}: ${line}`);
      report(scenario.summary);
      try {
        const drainTimeoutMs = drainSeconds * 1_000;
        const result = await runScenario(scenario, { ...options, servers, name, folder, drainTimeoutMs, onProgress: report });
        report(result.broken.length === 0 ? 'passed' : `failed; logs are in ${join(folder, name)}`);
        results.push(result);
      } catch (error) {
        if (options.signal.aborted) throw error;
        report(`failed: ${errorChain(error)}`);
        failed.push(scenario.name);
      }
    }
  }
  if (results.length === scenarios.length && results.every(({ broken }) => broken.length === 0))
    await rm(folder, { recursive: true, maxRetries: 3 });
  return { results, failed };
}

function scenariosOf(names: string | undefined): readonly Scenario[] {
  return names === undefined ? SCENARIOS : names.split(',').map(scenarioOf);
}

export function scenarioOf(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found !== undefined) return found;
  throw usageError(`unknown scenario "${name}"; there are: ${SCENARIOS.map((scenario) => scenario.name).join(', ')}`);
}

function numberOf(option: string, text: string | undefined, byDefault: number): number {
  const value = Number(text ?? byDefault);
  if (!Number.isInteger(value) || value < 1 || value > 100_000) throw usageError(`${option} must be 1 to 100000`);
  return value;
}

function abortOnSignal({ untilSignal }: CommandContext): AbortSignal {
  const stopping = new AbortController();
  void untilSignal().then((signal) => stopping.abort(new Error(`stopped by ${signal}`)));
  return stopping.signal;
}
