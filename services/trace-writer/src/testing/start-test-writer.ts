import { createLogger } from '@vitrine/telemetry/logger';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { startTraceWriter } from '../app.ts';
import { readWriterConfig } from '../config.ts';

/** A trace-writer in this process, on any free port. */
export interface TestWriter extends AsyncDisposable {
  readonly url: string;
  readonly log: readonly string[];
  /** The status of health: `running` when it consumes and writes, else the reason. */
  state(): Promise<string>;
  /** The sum of a metric's series in the scrape; undefined when it has none. */
  metric(name: string): Promise<number | undefined>;
}

export async function startTestWriter(variables: Readonly<Record<string, string>>): Promise<TestWriter> {
  const log: string[] = [];
  const env = { WRITER_SERVER_HOST: '127.0.0.1', WRITER_SERVER_PORT: '0', ...variables };
  const config = readWriterConfig(undefined, env);
  const logger = createLogger('svc-trace-writer', config.log.level, { write: (line) => log.push(line) });
  const writer = await startTraceWriter(config, logger);
  const metric = async (name: string) => {
    const families = parseScrape(await (await fetch(`${writer.url}/metrics`)).text(), 'classic');
    const samples = families.flatMap((family) => family.samples).filter((sample) => sample.name === name);
    return samples.length === 0 ? undefined : samples.reduce((sum, { value }) => sum + value, 0);
  };
  const state = async () => {
    const response = await fetch(`${writer.url}/api/health`);
    const { reasons, consumer = 'no consumer' } = (await response.json()) as { reasons?: string[]; consumer?: string };
    return reasons?.join(' ') ?? consumer;
  };
  return { url: writer.url, log, state, metric, [Symbol.asyncDispose]: () => writer[Symbol.asyncDispose]() };
}
