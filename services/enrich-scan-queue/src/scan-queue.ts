import type { RecordHandler } from '@vitrine/kafka/consume/consumed-record';
import { deadLetterTopic } from '@vitrine/kafka/consume/dead-letter';
import { KafkaConsumer } from '@vitrine/kafka/consume/kafka-consumer';
import type { KafkaClient } from '@vitrine/kafka/kafka-client';
import { KafkaPublisher } from '@vitrine/kafka/publish/kafka-publisher';
import { InProcessRelay } from '@vitrine/outbox/in-process-relay';
import type { OutboxFigures } from '@vitrine/outbox/outbox-figures';
import { OutboxRelay } from '@vitrine/outbox/outbox-relay';
import { DatabaseProbe } from '@vitrine/postgres/database-probe';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { ReplayContext } from '@vitrine/stores/commit/replay-store';
import { SCAN_TOPICS, type ScanCause } from '@vitrine/stores/scans/queue-scans';
import type { Logger } from '@vitrine/telemetry/logger';
import type { ScanConfig } from './config.ts';
import type { ScannerState } from './health/service-health.ts';
import { runDueJobs } from './jobs/due-jobs.ts';
import { JobRunner, type EndedRun, type RunResult } from './jobs/job-runner.ts';
import { createRequestHandler } from './jobs/request-handler.ts';
import { ScanJobs, type ClaimedJob } from './jobs/scan-jobs.ts';
import { ScanSlots } from './jobs/scan-slots.ts';
import type { ConsumerSums, ScanFigures } from './observability/scan-telemetry.ts';
import { RoutineWork } from './rescan/routine-work.ts';
import { RulesReplay } from './rescan/rules-replay.ts';

export const APPLICATION = 'vitrine-enrich-scan-queue';
const CAUSES: readonly ScanCause[] = ['requested', 'routine'];

interface ScanQueueOptions {
  readonly config: ScanConfig;
  /** Undefined without a broker. */
  readonly client: KafkaClient | undefined;
  readonly logger: Logger;
  readonly pool: PostgresPool;
  readonly run: (job: ClaimedJob, signal: AbortSignal) => Promise<RunResult>;
  readonly onEnd: (ended: EndedRun) => void;
  /** Replays kept evidence when stores were observed under other rules. */
  readonly replay: ReplayContext;
}

interface Started {
  readonly consumers: readonly KafkaConsumer[];
  /** Relays the messages that this or any other process has queued. */
  readonly relay: AsyncDisposable & { readonly figures: OutboxFigures };
  readonly due: Promise<void>;
  readonly routine: RoutineWork;
  readonly replay: RulesReplay;
}

/** Connects the queue to the database: waits for both, runs the jobs, and queues routine ones. */
export class ScanQueue {
  readonly #options: ScanQueueOptions;
  readonly #pool: PostgresPool;
  readonly #jobs: ScanJobs;
  readonly #slots: ScanSlots;
  readonly #runner: JobRunner;
  /** Empty without a broker. */
  readonly #deadLetters: ReadonlyMap<ScanCause, KafkaPublisher>;
  readonly #publishers: ReadonlyMap<string, KafkaPublisher>;
  readonly #database: DatabaseProbe;
  readonly #stopping = new AbortController();
  #dueRoundAt = performance.now();
  #duplicates = 0;
  #started: Started | undefined;

  /** Connects only to the broker. */
  constructor(options: ScanQueueOptions) {
    const { config, client, pool, run, logger, onEnd } = options;
    this.#options = options;
    this.#pool = pool;
    this.#database = new DatabaseProbe(pool, { logger, probe });
    this.#jobs = new ScanJobs(this.#pool);
    this.#slots = new ScanSlots(config.concurrency);
    const limits = { maxAttempts: config.jobs.max_attempts, retryMs: config.jobs.retry_ms };
    this.#runner = new JobRunner({ jobs: this.#jobs, slots: this.#slots, limits, run, logger, onEnd });
    const causes = client === undefined ? [] : CAUSES.map((cause) => ({ client, cause, topic: SCAN_TOPICS[cause] }));
    this.#deadLetters = new Map(
      causes.map(({ client: of, cause, topic }) => [cause, new KafkaPublisher(of, { topic: deadLetterTopic(topic) })]),
    );
    this.#publishers = new Map(causes.map(({ client: of, topic }) => [topic, new KafkaPublisher(of, { topic })]));
  }

  get state(): ScannerState {
    const loops =
      this.#started === undefined ? [] : [['due jobs', this.#dueRoundAt] as const, ['leases', this.#runner.renewedAt] as const];
    return {
      databaseReason: this.#database.reason,
      consumers: (this.#started?.consumers ?? []).map(({ status }) => status),
      canPublish: this.#options.client && this.#allPublishers().every(({ isReady }) => isReady),
      loopsAgeSec: new Map(loops.map(([name, since]) => [name, (performance.now() - since) / 1_000])),
    };
  }

  /** Whether the database was reached at any time since the start. */
  get hasReachedDatabase(): boolean {
    return this.#database.hasReachedDatabase;
  }

  get figures(): ScanFigures {
    const consumers = new Map<ScanCause, ConsumerSums>(
      CAUSES.map((cause, at) => {
        const consumer = this.#started?.consumers[at];
        const { lagRecords, records = 0, deadLetters = 0 } = consumer?.figures ?? {};
        return [cause, { lagRecords, records, deadLetters, isRunning: consumer?.status === 'running' }];
      }),
    );
    return {
      inFlight: this.#slots.taken,
      slots: this.#slots.size,
      waiting: new Map(CAUSES.map((cause) => [cause, this.#slots.waiting(cause)])),
      duplicates: this.#duplicates,
      consumers,
      routine: this.#started?.routine.figures,
      replay: this.#started?.replay.figures,
      outbox: this.#started?.relay.figures,
      pools: { scan: this.#pool.figures() },
    };
  }

  /** Of all topics; undefined while unknown. */
  get lagRecords(): number | undefined {
    const lags = (this.#started?.consumers ?? []).map((consumer) => consumer.figures.lagRecords);
    return lags.length === 0 || lags.includes(undefined) ? undefined : lags.reduce<number>((sum, lag = 0) => sum + lag, 0);
  }

  /** Starts in the background. Jobs are taken once the database has its tables. */
  start(): void {
    void this.#database.start().ready.then(() => this.#begin());
  }

  /** Takes no more jobs, and ends or requeues the running ones. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#slots.close();
    const { consumers = [], relay, due, routine, replay } = this.#started ?? {};
    const stopTaking = async () => {
      await Promise.all([...consumers, ...(relay === undefined ? [] : [relay])].map((one) => one[Symbol.asyncDispose]()));
      await Promise.all(this.#allPublishers().map((publisher) => publisher[Symbol.asyncDispose]()));
    };
    const inBackground = [routine, replay].map((work) => work?.[Symbol.asyncDispose]());
    await Promise.all([this.#runner.stop(), stopTaking(), due, ...inBackground, this.#database[Symbol.asyncDispose]()]);
    await this.#runner.settle();
  }

  #begin(): void {
    const { config, logger, replay: context } = this.#options;
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    this.#runner.startRenewing();
    const tools = { jobs: this.#jobs, slots: this.#slots, runner: this.#runner, logger, signal };
    const onRound = () => (this.#dueRoundAt = performance.now());
    const routine = new RoutineWork(this.#pool, { config, logger, jobs: this.#jobs });
    const replay = new RulesReplay(this.#pool, { ...context, logger, perSecond: config.evidence.replay_per_second });
    const due = runDueJobs({ ...tools, onRound });
    this.#started = { consumers: this.#consume(), relay: this.#startRelay(), due, routine, replay };
  }

  #consume(): KafkaConsumer[] {
    const { config, client } = this.#options;
    if (client === undefined) return [];
    return [...this.#deadLetters].map(
      ([cause, deadLetters]) =>
        new KafkaConsumer(client, {
          topic: SCAN_TOPICS[cause],
          // Members of a group have to subscribe to the same topics.
          groupId: `${config.queue.group}-${cause}`,
          // A batch would wait for the slot of its last record.
          maxBatchRecords: 1,
          handle: this.#handlerOf(cause),
          deadLetters,
          isAvailable: () => probe(this.#pool).then(() => true),
        }),
    );
  }

  #startRelay(): Started['relay'] {
    const { client, logger } = this.#options;
    if (client !== undefined) return new OutboxRelay(this.#pool, { publishers: this.#publishers, logger });
    const handlers = new Map(CAUSES.map((cause) => [SCAN_TOPICS[cause], this.#handlerOf(cause)]));
    return new InProcessRelay(this.#pool, { handlers, logger });
  }

  #handlerOf(cause: ScanCause): RecordHandler {
    const onDuplicate = () => void (this.#duplicates += 1);
    return createRequestHandler(cause, { jobs: this.#jobs, slots: this.#slots, runner: this.#runner, onDuplicate });
  }

  #allPublishers(): KafkaPublisher[] {
    return [...this.#deadLetters.values(), ...this.#publishers.values()];
  }
}

/** Checks a column of the newest migration that this service needs, and whether jobs can be written. */
async function probe(pool: PostgresPool): Promise<void> {
  // Changes no row, but fails if rows cannot be changed.
  await pool.query('UPDATE scan_jobs SET due_at = due_at WHERE FALSE');
  await pool.query('SELECT registry_checksum FROM derivations LIMIT 0');
}
