import { Secret } from '@vitrine/config/secret';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { Client } from 'undici';

// The cost of the same work without a scanner: fetches the same paths of the same storefronts, and writes one row per storefront.

interface Order {
  readonly origin: string;
  readonly hosts: readonly string[];
  readonly paths: readonly string[];
  readonly concurrency: number;
}

const pool = new PostgresPool({ dsn: new Secret(process.argv[2] ?? ''), applicationName: 'bench bare', maxConnections: 10 });
await pool.query('CREATE TABLE IF NOT EXISTS bare_scans (host text, pages jsonb)');
process.on('message', (order: Order) => void run(order).then((result) => process.send?.(result)));
process.on('SIGTERM', () => process.exit(0));
process.send?.({ port: 0 });

async function run({ origin, hosts, paths, concurrency }: Order): Promise<object> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const waiting = [...hosts];
  const work = async () => {
    for (let host = waiting.pop(); host !== undefined; host = waiting.pop()) await scan(origin, host, paths);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const { user, system } = process.cpuUsage(before);
  return { seconds: (performance.now() - startedAt) / 1_000, cpuMs: (user + system) / 1_000 };
}

async function scan(origin: string, host: string, paths: readonly string[]): Promise<void> {
  const client = new Client(origin);
  const lengths: Record<string, number> = {};
  for (const path of paths) {
    const { body } = await client.request({ path, method: 'GET', headers: { host } });
    lengths[path] = (await body.text()).length;
  }
  await client.close();
  await pool.execute('INSERT INTO bare_scans VALUES ($1, $2)', [host, JSON.stringify(lengths)]);
}
