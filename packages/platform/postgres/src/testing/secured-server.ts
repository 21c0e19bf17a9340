import { Secret } from '@vitrine/config/secret';
import { ownPostgresServer } from '@vitrine/testkit/postgres-server';
import { TEST_CERTIFICATES } from '@vitrine/testkit/test-certificates';
import { readFileSync } from 'node:fs';
import { PostgresPool } from '../postgres-pool.ts';

/** The first matching line applies to a connection. */
const ACCESS_RULES = ['hostssl all client all cert', 'hostssl all tls_only all password', 'host all postgres all password'];

/** A server with a certificate for `localhost`. Its user `client` needs a client certificate, `tls_only` needs TLS. */
export interface SecuredServer {
  /** As the superuser `postgres`, without TLS. */
  readonly url: string;
  acceptTls(isAccepted: boolean): Promise<void>;
}

export async function startSecuredServer(): Promise<SecuredServer> {
  const url = await ownPostgresServer();
  const { ca, server, serverKey } = TEST_CERTIFICATES;
  const run = async (...statements: readonly string[]) => {
    await using pool = new PostgresPool({ dsn: new Secret(url), applicationName: 'test', maxConnections: 1 });
    for (const statement of statements) await pool.query(statement);
  };
  await run(
    writeFile('server.key', linesOf(serverKey)),
    writeFile('server.crt', linesOf(server)),
    writeFile('root.crt', linesOf(ca)),
    writeFile('pg_hba.conf', ACCESS_RULES),
    "ALTER SYSTEM SET ssl_ca_file = 'root.crt'",
    'CREATE ROLE client LOGIN',
    "CREATE ROLE tls_only LOGIN PASSWORD 'canary-tls-only'",
  );
  const acceptTls = (isAccepted: boolean) => run(`ALTER SYSTEM SET ssl = ${isAccepted}`, 'SELECT pg_reload_conf()');
  return { url, acceptTls };
}

const linesOf = (file: string) => readFileSync(file, 'utf8').trim().split('\n');

/** The server writes its own files: it may run as another user, and refuses a key that is not its own or that others can read. */
function writeFile(name: string, lines: readonly string[]): string {
  const rows = lines.map((line) => `('${line}')`).join();
  return `COPY (VALUES ${rows}) TO PROGRAM 'cat > ${name}'`;
}
