import { K3sContainer } from '@testcontainers/k3s';
import { PostgreSqlContainer, type StartedPostgreSqlContainer } from '@testcontainers/postgresql';
import { GenericContainer, getContainerRuntimeClient, ImageName, Network, Wait, type StartedNetwork } from 'testcontainers';
import { execFile } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { IMAGES } from './images.ts';
import { ROOT } from './running-process.ts';

// The only file that imports testcontainers: servers in containers, for tests, the bench and the demo. Images are named in images.ts.

const START_TIMEOUT_MS = 120_000;
const BUILD_TIMEOUT_MS = 300_000;
const KAFKA_ALIAS = 'kafka';

/** Why no container can be started; undefined if one can. Images that the engine does not have are pulled, because an engine that
 *  reaches no
 *  registry cannot start containers either. */
export async function engineError(): Promise<string | undefined> {
  if (process.env['VITRINE_WITHOUT_CONTAINERS'] !== undefined) return 'VITRINE_WITHOUT_CONTAINERS is set';
  let needed = 'container engine';
  try {
    const { image: images } = await getContainerRuntimeClient();
    for (const name of [IMAGES.postgres, IMAGES.kafka, IMAGES.node]) {
      needed = `image ${name}`;
      const image = ImageName.fromString(name);
      if (!(await images.exists(image))) await images.pull(image);
    }
    return undefined;
  } catch (error) {
    return `no ${needed}: ${String(error)}`;
  }
}

export interface RunningKafka extends AsyncDisposable {
  /** Of its container. */
  readonly name: string;
  /** As seen from this machine; the same after a restart. */
  readonly brokers: readonly string[];
  /** As seen from containers in `network`. */
  readonly internalBrokers: readonly string[];
  stop(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Also after `stop` and `kill`; topics are kept. */
  restart(): Promise<void>;
  /** Pauses the process: connections stay open and nothing responds. */
  pause(): Promise<void>;
  unpause(): Promise<void>;
  /** Runs another program in the container. */
  exec(command: readonly string[]): Promise<{ readonly exitCode: number; readonly output: string }>;
}

export interface KafkaOptions {
  readonly network?: StartedNetwork;
  readonly port?: number;
  /** Another listener for clients that reach the broker through a proxy: it listens at `port`, and sends them to `proxyPort`. */
  readonly proxied?: { readonly port: number; readonly proxyPort: number };
  /** Environment of the container, beside that of a plain broker or instead of it. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Texts by their path in the container. */
  readonly files?: Readonly<Record<string, string>>;
}

/** One broker in KRaft mode that does not create topics automatically. */
export async function startKafka(options: KafkaOptions = {}): Promise<RunningKafka> {
  const port = options.port ?? (await freePort());
  const container = new GenericContainer(IMAGES.kafka)
    .withExposedPorts({ container: 19_092, host: port })
    .withEnvironment({ ...kafkaSettings(port, options.proxied?.proxyPort), ...options.settings })
    .withCopyContentToContainer(Object.entries(options.files ?? {}).map(([target, content]) => ({ target, content })))
    .withNetworkAliases(KAFKA_ALIAS)
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .withStartupTimeout(START_TIMEOUT_MS);
  if (options.proxied !== undefined) container.withExposedPorts({ container: 29_092, host: options.proxied.port });
  if (options.network !== undefined) container.withNetwork(options.network);
  const started = await container.start();
  const client = await getContainerRuntimeClient();
  const handle = client.container.getById(started.getId());
  return {
    name: started.getName().replace('/', ''),
    brokers: [`127.0.0.1:${port}`],
    internalBrokers: [`${KAFKA_ALIAS}:9092`],
    stop: () => handle.stop({ t: 5 }),
    kill: async () => void (await handle.kill()),
    restart: () => started.restart({ timeout: 5 }),
    pause: () => handle.pause(),
    unpause: () => handle.unpause(),
    exec: (command) => started.exec([...command]),
    [Symbol.asyncDispose]: async () => void (await started.stop({ timeout: 0 })),
  };
}

function kafkaSettings(port: number, proxyPort: number | undefined): Record<string, string> {
  const [listener, advertised, protocol] =
    proxyPort === undefined ? ['', '', ''] : [',PROXIED://:29092', `,PROXIED://127.0.0.1:${proxyPort}`, ',PROXIED:PLAINTEXT'];
  return {
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
    KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    KAFKA_LISTENERS: `INTERNAL://:9092,CONTROLLER://:9093,EXTERNAL://:19092${listener}`,
    KAFKA_ADVERTISED_LISTENERS: `INTERNAL://${KAFKA_ALIAS}:9092,EXTERNAL://127.0.0.1:${port}${advertised}`,
    KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: `INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT,EXTERNAL:PLAINTEXT${protocol}`,
    KAFKA_INTER_BROKER_LISTENER_NAME: 'INTERNAL',
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
  };
}

export interface ProgramOptions {
  readonly image: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Replaces the entry point of the image. */
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly network?: StartedNetwork;
  /** Its name in `network`. */
  readonly alias?: string;
}

export interface ServiceOptions extends ProgramOptions {
  /** The port of its HTTP server. */
  readonly port: number;
  /** A folder of this machine that is copied into the container, whose file system may then be written to. */
  readonly folder?: { readonly source: string; readonly target: string };
  /** A folder of this machine that the container can read. */
  readonly mount?: { readonly source: string; readonly target: string };
}

export interface RunningProgram extends AsyncDisposable {
  /** Of its container. */
  readonly name: string;
  /** Standard output and error so far. */
  readonly log: string;
  /** Runs another program in the container. */
  exec(command: readonly string[]): Promise<{ readonly exitCode: number; readonly output: string }>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Waits for the end; resolves with the exit code. */
  end(): Promise<number>;
}

export interface RunningService extends RunningProgram {
  /** As seen from this machine. */
  readonly url: string;
}

/** As in a cluster: a read-only root file system with a /tmp, and no capabilities. */
class RestrictedContainer extends GenericContainer {
  constructor(image: string) {
    super(image);
    this.hostConfig.ReadonlyRootfs = true;
    this.withDroppedCapabilities('ALL').withSecurityOpt('no-new-privileges').withTmpFs({ '/tmp': 'rw,size=64m' });
  }
}

/** Starts a program that ends by itself, and does not wait for it. */
export async function startProgram(options: ProgramOptions): Promise<RunningProgram> {
  return (await startContainer(new RestrictedContainer(options.image), options)).program;
}

/** Runs a service until it listens. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { image, port, folder, mount } = options;
  const container = folder === undefined ? new RestrictedContainer(image) : new GenericContainer(image);
  if (folder !== undefined) container.withCopyDirectoriesToContainer([folder]);
  if (mount !== undefined) container.withBindMounts([{ ...mount, mode: 'ro' }]);
  container.withExposedPorts(port).withWaitStrategy(Wait.forListeningPorts());
  const { started, program } = await startContainer(container, options);
  return Object.assign(program, { url: `http://${started.getHost()}:${started.getMappedPort(port)}` });
}

async function startContainer(container: GenericContainer, options: ProgramOptions) {
  const { env = {}, entrypoint, command = [], network, alias } = options;
  const log = { text: '' };
  container
    .withEnvironment({ ...env })
    .withCommand([...command])
    .withLogConsumer((stream) => void stream.on('data', (chunk: Buffer) => (log.text += chunk.toString())))
    .withStartupTimeout(START_TIMEOUT_MS);
  if (entrypoint !== undefined) container.withEntrypoint([...entrypoint]);
  if (network !== undefined) container.withNetwork(network);
  if (alias !== undefined) container.withNetworkAliases(alias);
  const started = await container.start();
  const handle = (await getContainerRuntimeClient()).container.getById(started.getId());
  const program: RunningProgram = {
    name: started.getName().replace('/', ''),
    get log() {
      return log.text;
    },
    exec: (command) => started.exec([...command]),
    kill: async (signal) => void (await handle.kill({ signal })),
    end: async () => ((await handle.wait()) as { readonly StatusCode: number }).StatusCode,
    [Symbol.asyncDispose]: async () => void (await started.stop({ timeout: 0 })),
  };
  return { started, program };
}

/** Builds a target of deploy/Dockerfile, of this checkout or of another; returns the id of its image: another checkout may have reused the name in
 *  the meantime. */
export async function buildImage(target: string, checkout = ROOT): Promise<string> {
  const build = ['build', '-q', '-f', 'deploy/Dockerfile', '--target', target, '-t', `vitrine/${target}:test`];
  const args = ['--build-arg', `NODE_IMAGE=${IMAGES.node}`, '.'];
  const { stdout } = await promisify(execFile)('docker', [...build, ...args], {
    cwd: checkout,
    timeout: BUILD_TIMEOUT_MS,
    env: { ...process.env, DOCKER_BUILDKIT: '1' },
  });
  return stdout.trim().replace('sha256:', '');
}

export interface PostgresOptions {
  readonly network?: StartedNetwork;
  /** As seen from this machine; without one, a restart chooses another. */
  readonly port?: number;
}

export function startPostgres({ network, port }: PostgresOptions = {}): Promise<StartedPostgreSqlContainer> {
  const container = new PostgreSqlContainer(IMAGES.postgres).withNetworkAliases('postgres').withStartupTimeout(START_TIMEOUT_MS);
  if (network !== undefined) container.withNetwork(network);
  if (port !== undefined) container.withExposedPorts({ container: 5432, host: port });
  return container.start();
}

/** kill -9 of a container's process. Its `restart` starts it again, with what was on its disk. */
export async function killContainer(container: StartedPostgreSqlContainer): Promise<void> {
  const client = await getContainerRuntimeClient();
  await client.container.getById(container.getId()).kill();
}

export interface RunningK3s extends AsyncDisposable {
  readonly kubeconfig: string;
  /** Loads the images of a `docker save` archive into its node. */
  importImages(archive: string): Promise<void>;
}

/** A Kubernetes cluster of one node, in a privileged container. */
export async function startK3s(): Promise<RunningK3s> {
  const started = await new K3sContainer(IMAGES.k3s).start();
  return {
    kubeconfig: started.getKubeConfig(),
    importImages: async (archive) => {
      const target = '/tmp/images.tar';
      await started.copyFilesToContainer([{ source: archive, target }]);
      const { exitCode, output } = await started.exec(['ctr', '--namespace', 'k8s.io', 'images', 'import', target]);
      if (exitCode !== 0) throw new Error(`K3s did not import ${archive}: ${output}`);
    },
    [Symbol.asyncDispose]: async () => void (await started.stop({ timeout: 0 })),
  };
}

/** A network whose containers reach each other by their aliases. */
export function startNetwork(): Promise<StartedNetwork> {
  return new Network().start();
}

/** A broker advertises its address before its container has a port, so the port is chosen here. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
