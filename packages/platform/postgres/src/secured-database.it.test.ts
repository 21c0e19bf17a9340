import { beforeAll, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { TEST_CERTIFICATES } from '@vitrine/testkit/test-certificates';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { inspect } from 'node:util';
import { PostgresPool } from './postgres-pool.ts';
import { startSecuredServer, type SecuredServer } from './testing/secured-server.ts';
import { waitForDatabase, type WaitFields } from './wait-for-database.ts';

const { ca, otherCa, client, clientKey } = TEST_CERTIFICATES;
const WRONG_PASSWORD = 'canary-wrong-5f21';
const VERIFIED = { sslmode: 'verify-full', sslrootcert: ca };

let server: SecuredServer;
beforeAll(async () => {
  server = await startSecuredServer();
  await acceptTls(true);
});

interface DsnParts {
  readonly host?: string;
  readonly username?: string;
  readonly password?: string;
}

function dsnOf(query: Readonly<Record<string, string>>, { host = 'localhost', ...user }: DsnParts = {}): Secret {
  const url = new URL(server.url);
  Object.assign(url, { hostname: host, ...user });
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return new Secret(url.href);
}

const open = (dsn: Secret) => new PostgresPool({ dsn, applicationName: 'test', maxConnections: 1 });
const isEncrypted = (pool: PostgresPool) => pool.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');

/** The server reads its settings some time after the call. */
async function acceptTls(isAccepted: boolean): Promise<void> {
  await server.acceptTls(isAccepted);
  const hasChanged = async () => {
    await using pool = open(dsnOf({}));
    return (await pool.query<{ ssl: string }>('SHOW ssl'))[0]?.ssl === (isAccepted ? 'on' : 'off');
  };
  await waitUntil(hasChanged, { what: 'the setting' });
}

test('a connection is encrypted if the server has a certificate of the authority in the DSN', async () => {
  await using pool = open(dsnOf(VERIFIED));
  expect(await isEncrypted(pool)).toEqual([{ ssl: true }]);
});

test('a client certificate in the DSN replaces a password', async () => {
  await using pool = open(dsnOf({ ...VERIFIED, sslcert: client, sslkey: clientKey }, { username: 'client', password: '' }));
  expect(await isEncrypted(pool)).toEqual([{ ssl: true }]);
});

/** The log while waiting for the database, and why the process is not ready. */
async function firstWait(dsn: Secret) {
  await using pool = open(dsn);
  const stop = new AbortController();
  let reason: string | undefined;
  const lines: WaitFields[] = [];
  const log = (fields: WaitFields) => {
    lines.push(fields);
    stop.abort();
  };
  await waitForDatabase(pool, { logger: { info: log, warn: log }, onAttempt: (of) => void (reason = of), signal: stop.signal });
  const [line] = lines;
  return { line, lines, reason };
}

test.each<[string, () => Secret, RegExp]>([
  ['authority', () => dsnOf({ ...VERIFIED, sslrootcert: otherCa }), /sslrootcert/],
  ['authority (that of the system)', () => dsnOf({ sslmode: 'verify-full' }), /sslrootcert/],
  ['path of the authority', () => dsnOf({ ...VERIFIED, sslrootcert: '/nowhere/ca.pem' }), /path of sslrootcert/],
  ['host name', () => dsnOf(VERIFIED, { host: '127.0.0.1' }), /certificate and name/],
  ['password', () => dsnOf(VERIFIED, { password: WRONG_PASSWORD }), /user and password/],
  ['sslmode (none)', () => dsnOf({}, { username: 'tls_only', password: WRONG_PASSWORD }), /sslmode/],
  ['client certificate (none)', () => dsnOf(VERIFIED, { username: 'client' }), /sslcert/],
])('a wrong %s is reported with the next step, and no secret is logged', async (_, dsn, nextStep) => {
  const { line, lines, reason } = await firstWait(dsn());
  expect(line).toMatchObject({ error_class: 'connection', next_step: expect.stringMatching(nextStep) });
  expect(reason).toMatch(/^waiting for the database: \w/);
  expectNoSecret([lines, reason]);
});

test('a server without TLS is not used if the DSN requires it', async () => {
  await acceptTls(false);
  try {
    const { line, lines, reason } = await firstWait(dsnOf(VERIFIED));
    expect(line).toMatchObject({ error_class: 'connection', next_step: expect.stringMatching(/sslmode/) });
    expectNoSecret([lines, reason]);
  } finally {
    await acceptTls(true);
  }
});

function expectNoSecret(seen: unknown): void {
  const text = inspect(seen, { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity, showHidden: true });
  for (const secret of [new URL(server.url).password, WRONG_PASSWORD, 'PRIVATE KEY']) expect(text).not.toContain(secret);
}
