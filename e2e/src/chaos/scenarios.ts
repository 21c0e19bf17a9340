import type { Pipeline } from './pipeline.ts';

const SPOOL_MAX_BYTES = 1_073_741_824;
/** Less than what a gateway publishes in a few seconds. */
const SMALL_SPOOL_BYTES = 1_048_576;

/** Faults while exchanges pass through the gateways. */
export interface Scenario {
  readonly name: string;
  readonly summary: string;
  readonly writers: number;
  readonly spoolMaxBytes: number;
  /** Whether traces may be dropped, as long as each is counted. */
  readonly mayDrop: boolean;
  /** `until(0.5)` resolves when half of the load's time has passed. */
  run(pipeline: Pipeline, until: (share: number) => Promise<void>): Promise<void>;
}

const USUAL = { writers: 1, spoolMaxBytes: SPOOL_MAX_BYTES, mayDrop: false };

export const SCENARIOS: readonly Scenario[] = [
  {
    ...USUAL,
    name: 'writer-killed',
    summary: 'kill -9 of the trace-writer, four times',
    async run({ writers }, until) {
      for (const share of [0.15, 0.35, 0.55, 0.75]) {
        await until(share);
        await writers[0]?.kill();
        await until(share + 0.05);
        await writers[0]?.start();
      }
    },
  },
  {
    ...USUAL,
    name: 'connection-cut',
    summary: "the gateways' connections to the broker freeze, then are refused, then are reset",
    async run({ servers: { brokerProxy } }, until) {
      await until(0.1);
      brokerProxy.freeze();
      await until(0.3);
      await brokerProxy.close();
      await until(0.5);
      await brokerProxy.open();
      await until(0.8);
      await brokerProxy.close();
      await brokerProxy.open();
    },
  },
  {
    ...USUAL,
    name: 'broker-restarted',
    summary: 'the broker is restarted, later killed and started again',
    async run({ servers: { kafka } }, until) {
      await until(0.2);
      await kafka.restart();
      await until(0.6);
      await kafka.kill();
      await until(0.7);
      await kafka.restart();
    },
  },
  {
    ...USUAL,
    name: 'database-restarted',
    summary: 'Postgres is restarted, later killed and started again',
    async run({ servers }, until) {
      await until(0.2);
      await servers.restartPostgres();
      await until(0.6);
      await servers.killPostgres();
      await until(0.7);
      await servers.restartPostgres();
    },
  },
  {
    ...USUAL,
    name: 'writers-join-and-leave',
    summary: 'of two trace-writers one or the other is stopped, killed and started again',
    writers: 2,
    async run({ writers: [first, second] }, until) {
      for (const share of [0.1, 0.5]) {
        await until(share);
        await first?.stop();
        await until(share + 0.1);
        await first?.start();
        await until(share + 0.2);
        await second?.kill();
        await until(share + 0.3);
        await second?.start();
      }
    },
  },
  {
    ...USUAL,
    name: 'delivered-again',
    summary: 'all records are published again, and the group begins at the oldest again, twice',
    async run({ topic, writers }, until) {
      for (const share of [0.3, 1]) {
        await until(share);
        await writers[0]?.stop();
        await topic.rewindGroup();
        if (share < 1) await topic.publishAgain();
        await writers[0]?.start();
      }
    },
  },
  {
    ...USUAL,
    name: 'gateway-killed',
    summary: 'kill -9 of one of two gateways, four times; its queue in memory is lost',
    async run({ gateways }, until) {
      for (const share of [0.15, 0.35, 0.55, 0.75]) {
        await until(share);
        await gateways[0]?.kill();
        await until(share + 0.05);
        await gateways[0]?.start();
      }
    },
  },
  {
    ...USUAL,
    name: 'spool-full',
    summary: 'the broker is away for longer than the spool lasts; what is dropped is counted',
    spoolMaxBytes: SMALL_SPOOL_BYTES,
    mayDrop: true,
    async run({ servers: { brokerProxy } }, until) {
      await until(0.2);
      await brokerProxy.close();
      await until(0.7);
      await brokerProxy.open();
    },
  },
];
