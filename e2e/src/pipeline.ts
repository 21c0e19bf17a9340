import { waitUntil } from '@vitrine/testkit/wait-until';
import { randomBytes } from 'node:crypto';
import {
  buildImage,
  startKafka,
  startNetwork,
  startPostgres,
  startProgram,
  startService,
  type ProgramOptions,
  type RunningKafka,
  type RunningService,
} from './environment.ts';
import { MOCK_UPSTREAMS, startMockProviders } from './mock-providers.ts';

const GATEWAYS = 2;
const WRITERS = 2;
const GATEWAY_PORT = 8080;
const WRITER_PORT = 9090;
/** A gateway polls for key changes at this interval without notifications. */
const KEY_POLL_MS = 30_000;
export const KEY_HEADER = 'X-Svc-Gateway-Key';

type Network = Awaited<ReturnType<typeof startNetwork>>;
type Database = Awaited<ReturnType<typeof startPostgres>>;
type Variables = Readonly<Record<string, string>>;

export interface PipelineOptions {
  /** Called before each step. */
  readonly onStep: (what: string) => void;
  /** Ends the start before its next step. */
  readonly signal?: AbortSignal;
}

/** Two gateways, a broker, two trace-writers and a database, in containers, with mock providers behind the gateways. Disposal removes
 *  all of it. */
export interface RunningPipeline extends AsyncDisposable {
  readonly gateways: readonly RunningService[];
  readonly writers: readonly RunningService[];
  readonly kafka: RunningKafka;
  readonly postgres: Database;
  readonly providers: RunningService;
  /** Runs SQL as the owner of the database; resolves with the rows, columns separated by `|`. */
  sql(text: string): Promise<string>;
  /** Creates a gateway key by the command of the first gateway; resolves with its token when all gateways accept it. */
  createOwnerKey(): Promise<string>;
}

export async function startPipeline({ onStep, signal }: PipelineOptions): Promise<RunningPipeline> {
  await using opened = new AsyncDisposableStack();
  const step = <T>(what: string, work: () => Promise<T>): Promise<T> => {
    signal?.throwIfAborted();
    onStep(what);
    return work();
  };
  const build = (target: string) => step(`building the image of ${target} (minutes, the first time)`, () => buildImage(target));
  const images = {
    gateway: await build('gateway'),
    writer: await build('trace-writer'),
    migrations: await build('migrations'),
  };
  const network = await startNetwork();
  opened.defer(async () => void (await network.stop()));
  const kafka = opened.use(await step('starting Kafka', () => startKafka({ network })));
  const postgres = await step('starting Postgres', () => startPostgres({ network }));
  opened.defer(async () => void (await postgres.stop()));
  const providers = opened.use(await step('starting mock providers', () => startMockProviders(network)));
  const password = randomBytes(12).toString('hex');
  await step('creating tables and topics', () => prepare({ image: images.migrations, network, postgres, kafka, password }));
  const started = { writers: [] as RunningService[], gateways: [] as RunningService[] };
  const broker = kafka.internalBrokers.join(',');
  for (let n = 1; n <= WRITERS; n += 1) {
    const env = { WRITER_STORAGE_DSN: dsnOf(postgres, 'writer', password), WRITER_QUEUE_BROKERS: broker };
    const start = () => startService({ image: images.writer, env, port: WRITER_PORT, network });
    started.writers.push(opened.use(await step(`starting trace-writer ${n}`, start)));
  }
  const env = gatewayVariables(dsnOf(postgres, 'gateway', password), broker);
  for (let n = 1; n <= GATEWAYS; n += 1) {
    const start = () => startService({ image: images.gateway, env, port: GATEWAY_PORT, network });
    started.gateways.push(opened.use(await step(`starting gateway ${n}`, start)));
  }
  const running = opened.move();
  return {
    ...started,
    kafka,
    postgres,
    providers,
    sql: (text) => sql(postgres, text),
    createOwnerKey: () => createOwnerKey(started.gateways),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function gatewayVariables(dsn: string, brokers: string): Variables {
  return {
    ...MOCK_UPSTREAMS,
    SVC_STORAGE_DRIVER: 'postgres',
    SVC_STORAGE_DSN: dsn,
    SVC_QUEUE_DRIVER: 'kafka',
    SVC_QUEUE_BROKERS: brokers,
    SVC_QUEUE_SPOOL_PATH: '/data/spool',
    SVC_AUTH_ENABLED: 'true',
    SVC_AUTH_PEPPERS: `1:${randomBytes(32).toString('hex')}`,
    SVC_LIMITS_COUNTERS: 'shared',
    SVC_LIMITS_PER_KEY_REQUESTS_PER_MINUTE: '6000',
    SVC_TRACING_CAPTURE_BODIES: 'true',
  };
}

interface Preparation {
  /** Of the migrations. */
  readonly image: string;
  readonly network: Network;
  readonly postgres: Database;
  readonly kafka: RunningKafka;
  readonly password: string;
}

/** Tables and topics, and a user for each service with the rights of its role. */
async function prepare({ image, network, postgres, kafka, password }: Preparation): Promise<void> {
  const owner = dsnOf(postgres, postgres.getUsername(), postgres.getPassword());
  await runToEnd({ image, network, env: { VITRINE_POSTGRES_DSN: owner } });
  await runToEnd({ image, network, command: ['topics', '--brokers', kafka.internalBrokers.join(','), '--partitions', '4'] });
  const users = { gateway: 'vitrine_gateway', writer: 'vitrine_trace_writer' };
  for (const [user, role] of Object.entries(users))
    await sql(postgres, `CREATE USER ${user} PASSWORD '${password}' IN ROLE ${role}`);
}

async function runToEnd(options: ProgramOptions): Promise<void> {
  await using program = await startProgram(options);
  const exitCode = await program.end();
  if (exitCode !== 0) throw new Error(`${program.name} ended with ${exitCode}:\n${program.log}`);
}

/** As seen from containers of the network. */
function dsnOf(postgres: Database, user: string, password: string): string {
  return `postgresql://${user}:${password}@postgres:5432/${postgres.getDatabase()}`;
}

async function sql(postgres: Database, text: string): Promise<string> {
  const { exitCode, output } = await postgres.exec([...psqlArgs(postgres), '-v', 'ON_ERROR_STOP=1', '-Atc', text]);
  if (exitCode !== 0) throw new Error(`${text}: ${output}`);
  return output.trim();
}

/** The command that opens the database in its container. */
export function psqlArgs(postgres: Database): string[] {
  return ['psql', '-U', postgres.getUsername(), '-d', postgres.getDatabase()];
}

async function createOwnerKey(gateways: readonly RunningService[]): Promise<string> {
  const command = ['node', 'services/gateway/src/main.ts', 'keys', 'create', '--role', 'owner', '--name', 'first'];
  const created = await gateways[0]?.exec([...command, '--format', 'json']);
  if (created?.exitCode !== 0) throw new Error(`no gateway key was created: ${created?.output}`);
  const { token } = JSON.parse(created.output) as { readonly token: string };
  for (const { url } of gateways) await untilKeyStatus(url, token, 200);
  return token;
}

/** Waits until a gateway responds with the status to requests with the key: 200 when it accepts it, 401 when it does not. */
export async function untilKeyStatus(url: string, token: string, status: number): Promise<void> {
  const read = () => fetch(`${url}/api/traces?limit=1`, { headers: { [KEY_HEADER]: token } });
  await waitUntil(async () => (await read()).status === status, { what: `${url}: ${status}`, timeoutMs: KEY_POLL_MS });
}
