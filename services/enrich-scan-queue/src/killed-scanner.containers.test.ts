import { expect, test } from '@jest/globals';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { startKafka } from '@vitrine/e2e/environment';
import { createTopic } from '@vitrine/kafka/testing/topics';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { store } from '@vitrine/stores/resources/store';
import { SCAN_TOPICS } from '@vitrine/stores/scans/queue-scans';
import { storeDatabase } from '@vitrine/stores/testing/store-database';
import { npmScript } from '@vitrine/testkit/npm-script';
import { startStorefronts } from '@vitrine/testkit/storefronts/start-storefronts';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { queueTestScans } from './testing/start-test-queue.ts';

const SHOPS = 40;
/** The lease of a killed process has to expire. */
const SLOW_MS = 300_000;
const TEST_TIMEOUT_MS = 900_000;

await describeWithContainers('scans from the outbox over Kafka 4.1 to profiles', () => {
  test(
    'of a scanner that is killed others take the scans over: every storefront is observed once, and has its profile',
    async () => {
      await using stack = new AsyncDisposableStack();
      const kafka = stack.use(await startKafka());
      const database = stack.use(await storeDatabase());
      const api = database.as('vitrine_store_api');
      await importVocabulary(api, VOCABULARY);
      for (const topic of Object.values(SCAN_TOPICS)) await createTopic(kafka, { topic, partitions: 4 });
      const hosts = Array.from({ length: SHOPS }, (_, i) => `shop-${i}.com`);
      const shops = stack.use(
        await startStorefronts(hosts.map((host) => ({ host, platform: 'shopify', technologies: ['klaviyo'], products: 12 }))),
      );
      const folder = stack.use(await temporaryFolder('vitrine-scanner'));
      const file = join(folder.path, 'scanner.json');
      const gate = stack.use(await openGate([shops.httpPort, shops.httpsPort]));
      const loopback = hosts.map((host) => `${host}=127.0.0.1:${gate.ports.join(':')}`);
      writeFileSync(file, JSON.stringify({ fetch: { loopback_hosts: loopback, loopback_ca: shops.ca } }));
      const start = () => {
        const [node, ...args] = npmScript('enrich-scan-queue');
        const env = {
          PATH: process.env['PATH'],
          SCAN_CONFIG: file,
          SCAN_ENVIRONMENT: 'development',
          SCAN_LOG_LEVEL: 'warn',
          SCAN_SERVER_HOST: '127.0.0.1',
          SCAN_SERVER_PORT: '0',
          SCAN_STORAGE_DSN: database.dsnOf('vitrine_enrich').reveal(),
          SCAN_QUEUE_BROKERS: kafka.brokers.join(','),
          SCAN_CONCURRENCY: '4',
          // All of them have the address of this machine.
          SCAN_POLITENESS: 'off',
          SCAN_RESCAN_ENABLED: 'false',
        };
        const child: ChildProcess = spawn(node, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
        stack.defer(async () => {
          if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
        });
        return child;
      };
      const countOf = async (text: string) => {
        const [row] = await database.owner.query<{ n: number }>(`SELECT count(*) AS n FROM ${text}`);
        return row?.n ?? 0;
      };
      const eventually = (what: string, check: () => Promise<boolean>) => waitUntil(check, { what, timeoutMs: SLOW_MS });

      const running = () => countOf(`scan_jobs WHERE status = 'running'`);
      const killed = start();
      await queueTestScans(api, hosts);
      await eventually('scans in the middle', async () => (await running()) >= 4);
      const ended = once(killed, 'exit');
      killed.kill('SIGKILL');
      await ended;
      expect(await running()).toBeGreaterThan(0);
      gate.open();
      const replicas = [start(), start()];
      await eventually('all scans', async () => (await countOf(`scan_jobs WHERE status = 'completed'`)) === SHOPS);
      expect(replicas.map(({ exitCode }) => exitCode)).toEqual([null, null]);
      expect(await countOf('scan_jobs WHERE attempts > 1')).toBeGreaterThan(0);

      expect(await countOf('observations')).toBe(SHOPS);
      expect(await countOf('(SELECT DISTINCT storefront_id FROM observations) AS o')).toBe(SHOPS);
      expect(await countOf(`signals WHERE type = 'store_first_observed'`)).toBe(SHOPS);
      expect(await countOf(`signals WHERE type = 'technology_added'`)).toBe(0);
      const [row] = await database.owner.query<{ profile: string }>(`SELECT profile FROM stores WHERE domain = 'shop-0.com'`);
      const profile = store.parse(JSON.parse(row?.profile ?? ''));
      expect(profile).toMatchObject({
        domain: 'shop-0.com',
        platform: { slug: 'shopify' },
        status: { state: 'active_storefront' },
      });
      expect(profile.technologies.map(({ slug }) => slug)).toContain('klaviyo');
    },
    TEST_TIMEOUT_MS,
  );
});

/** Accepts connections for servers of this machine, and forwards nothing until it is opened. */
async function openGate(
  ports: readonly number[],
): Promise<AsyncDisposable & { readonly ports: readonly number[]; open(): void }> {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    return socket;
  };
  const servers = await Promise.all(
    ports.map(async (port) => {
      const server = createServer((client) => {
        keep(client);
        void opened.then(() => client.pipe(keep(connect(port, '127.0.0.1'))).pipe(client));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  return {
    ports: servers.map((server) => (server.address() as AddressInfo).port),
    open,
    async [Symbol.asyncDispose]() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
