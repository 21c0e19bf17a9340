import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { codeOf } from '@vitrine/faults/fault';
import { emptyDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { inspect } from 'node:util';
import { lockByName, tryLockByName } from './advisory-lock.ts';
import type { PostgresPoolOptions } from './pool-options.ts';
import { classifyPostgresError } from './postgres-error.ts';
import { PostgresPool } from './postgres-pool.ts';
import { pagesOf } from './pages-of.ts';

let database: TestDatabase;
let pool: PostgresPool;
beforeAll(async () => {
  database = await emptyDatabase();
});
afterAll(async () => database[Symbol.asyncDispose]());
beforeEach(async () => {
  pool = open();
  await pool.query(
    'DROP TABLE IF EXISTS items; CREATE TABLE items (id int PRIMARY KEY, even int CHECK (even % 2 = 0))',
    undefined,
  );
});
afterEach(async () => pool[Symbol.asyncDispose]());

function open(options: Partial<PostgresPoolOptions> = {}): PostgresPool {
  return new PostgresPool({ dsn: database.dsn, applicationName: 'test', ...options });
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
const classOf = async (promise: Promise<unknown>) => classifyPostgresError(await failureOf(promise));
const idsOf = async (of: PostgresPool) =>
  (await of.query<{ id: number }>('SELECT id FROM items ORDER BY id')).map(({ id }) => id);
const terminate = (applicationName: string) =>
  pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [applicationName]);

describe('values', () => {
  test('bigint is a number, numeric an exact string, timestamptz milliseconds, date a string', async () => {
    const [row] = await pool.query(
      `SELECT 9007199254740991::int8 AS big, count(*) AS n, 0.000006150000::numeric(38,12) AS cost,
       '2026-01-05 00:00:00.123+02'::timestamptz AS at, '0001-01-01 00:00+00'::timestamptz AS first, '2026-01-05'::date AS day, '\\x0102'::bytea AS bytes`,
    );
    expect(row).toEqual({
      big: Number.MAX_SAFE_INTEGER,
      n: 1,
      cost: '0.000006150000',
      at: Date.UTC(2026, 0, 4, 22) + 123,
      first: Date.parse('0001-01-01T00:00:00Z'),
      day: '2026-01-05',
      bytes: Buffer.from([1, 2]),
    });
  });

  test.each(['UTC', 'Asia/Kolkata', 'America/New_York'])('a time is the same in a session in %s', async (zone) => {
    const rows = await pool.transaction(async (transaction) => {
      await transaction.execute(`SET LOCAL TIME ZONE '${zone}'`);
      return transaction.query("SELECT '2026-01-05 00:00:00.123456+02'::timestamptz AS at, 'infinity'::timestamptz AS never");
    });
    expect(rows).toEqual([{ at: Date.UTC(2026, 0, 4, 22) + 123, never: Number.POSITIVE_INFINITY }]);
  });

  test('a bigint beyond 2^53 is an error, and the connection stays usable', async () => {
    expect(await failureOf(pool.query('SELECT 9007199254740993::int8'))).toMatchObject({ name: 'RangeError' });
    expect(await pool.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('transactions', () => {
  test('commit their work, and execute counts rows', async () => {
    const inserted = await pool.transaction((transaction) => transaction.execute('INSERT INTO items VALUES (1), (2)'));
    expect([inserted, await idsOf(pool)]).toEqual([2, [1, 2]]);
  });

  test('are rolled back when their work throws, and keep its error', async () => {
    const error = new Error('of the work');
    const failed = pool.transaction(async (transaction) => {
      await transaction.execute('INSERT INTO items VALUES (1)');
      throw error;
    });
    expect(await failureOf(failed)).toBe(error);
    expect([await idsOf(pool), pool.figures().rollbacks]).toEqual([[], 1]);
  });

  test('that continue after a failed statement are an error, not a silent rollback', async () => {
    const work = pool.transaction(async (transaction) => {
      await transaction.execute('INSERT INTO items VALUES (1)');
      await failureOf(transaction.execute('INSERT INTO items VALUES (1)'));
    });
    expect(await failureOf(work)).toMatchObject({ message: expect.stringContaining('was rolled back') });
    expect(await idsOf(pool)).toEqual([]);
  });

  test('do not nest', async () => {
    const nested = pool.transaction(() => pool.transaction(async () => 1));
    expect(await failureOf(nested)).toMatchObject({ message: expect.stringContaining('transactions do not nest') });
  });

  test('accept no statement after their end', async () => {
    const ended = await pool.transaction(async (transaction) => transaction);
    expect(await failureOf(ended.query('SELECT 1'))).toMatchObject({ message: expect.stringContaining('after the end') });
  });

  test('discard their connection when ROLLBACK fails', async () => {
    await using failing = open({
      maxConnections: 1,
      beforeStatement: (text) => {
        if (text === 'ROLLBACK') throw new Error('injected');
      },
    });
    const error = new Error('of the work');
    const backend = () => failing.query<{ pid: number }>('SELECT pg_backend_pid() AS pid').then((rows) => rows[0]?.pid);
    const before = await backend();
    const work = failing.transaction(async (transaction) => {
      await transaction.execute('INSERT INTO items VALUES (1)');
      throw error;
    });
    expect(await failureOf(work)).toBe(error);
    expect(await backend()).not.toBe(before);
    expect(await idsOf(failing)).toEqual([]);
  });

  test('that are idle for too long are ended by the server', async () => {
    await using short = open({ idleTransactionTimeoutMs: 50 });
    const work = short.transaction(async (transaction) => {
      await waitUntil(
        async () => (await pool.query("SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'")).length > 0,
        {
          what: 'the transaction to be idle',
        },
      );
      await waitUntil(
        async () => (await pool.query("SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'")).length === 0,
        {
          what: 'the server to end it',
        },
      );
      await transaction.query('SELECT 1');
    });
    expect(['timeout', 'connection']).toContain(await classOf(work));
    expect(await short.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('errors are classified', () => {
  test.each([
    ['SELECT pg_sleep(5)', 'timeout'],
    ['INSERT INTO items VALUES (1), (1)', 'constraint'],
    ['INSERT INTO items VALUES (2, 3)', 'constraint'],
    ["SELECT 'x'::int", 'constraint'],
    ['SELECT * FROM nothing', 'unknown'],
    ['SELECT pg_terminate_backend(pg_backend_pid())', 'connection'],
  ])('%s: %s', async (text, expected) => {
    await using short = open({ statementTimeoutMs: 50 });
    expect(await classOf(short.query(text))).toBe(expected);
    expect(short.figures().errors).toMatchObject({ [expected]: 1 });
    expect(await short.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('a lock timeout is contention', async () => {
    await using impatient = open({ lockTimeoutMs: 20 });
    await pool.transaction(async (transaction) => {
      await transaction.query('LOCK TABLE items');
      expect(await classOf(impatient.query('SELECT * FROM items'))).toBe('contention');
    });
  });

  test.each([
    ['a port where nothing listens', (url: URL) => (url.port = '1')],
    ['a host that does not exist', (url: URL) => (url.hostname = 'nowhere.invalid')],
    ['an unknown user', (url: URL) => (url.username = 'vitrine_nobody')],
    ['a database that is not there', (url: URL) => (url.pathname = '/nothing')],
  ])('%s is a connection error', async (_, change) => {
    const url = new URL(database.dsn.reveal());
    change(url);
    await using unreachable = open({ dsn: new Secret(url.href) });
    expect(await classOf(unreachable.query('SELECT 1'))).toBe('connection');
  });

  test('no connection in time is a timeout, and a full queue of callers a fault at once', async () => {
    // Long enough for the first connection on a busy machine.
    await using small = open({ maxConnections: 1, maxWaiting: 1, connectTimeoutMs: 2_000 });
    await small.transaction(async () => {
      const [waiting, refused] = [failureOf(small.query('SELECT 1')), failureOf(small.query('SELECT 1'))];
      expect(codeOf(await refused)).toBe('postgres_pool_full');
      expect(classifyPostgresError(await waiting)).toBe('timeout');
    });
  });
});

test('broken connections, idle or in use, fail only their statement', async () => {
  await using other = open({ applicationName: 'broken', maxConnections: 2 });
  await other.query('SELECT 1');
  await terminate('broken');
  await waitUntil(() => other.figures().connectionsLost === 1, { what: 'the idle one to be lost' });
  const sleeping = classOf(other.query('SELECT pg_sleep(60)'));
  // A connection that is still being opened already has its name.
  const isRunning = async () =>
    (await pool.query(`SELECT 1 FROM pg_stat_activity WHERE application_name = 'broken' AND query LIKE '%pg_sleep(60)%'`))
      .length > 0;
  await waitUntil(isRunning, { what: 'the statement to be there' });
  await terminate('broken');
  expect(await sleeping).toBe('connection');
  expect(await other.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(other.figures()).toMatchObject({ connectionsOpened: 3, connectionsLost: 2, connections: 1, idleConnections: 1 });
});

test('paged rows are complete, and an error in a later page fails only its transaction', async () => {
  await using one = open({ maxConnections: 1 });
  const pages = (text: string, value: number) =>
    one.transaction(async (transaction) => {
      const read: number[][] = [];
      for await (const page of pagesOf<{ n: number }>(transaction, text, [value], 1_000)) read.push(page.map(({ n }) => n));
      return read;
    });
  const counted = 'SELECT n FROM generate_series(1, $1::int) AS n';
  expect((await pages(counted, 2_500)).flat()).toEqual(Array.from({ length: 2_500 }, (_, at) => at + 1));
  expect((await pages(counted, 2_000)).map((page) => page.length)).toEqual([1_000, 1_000, 0]);
  expect(await classOf(pages('SELECT 1 / (n - $1::int) AS n FROM generate_series(1, 2500) AS n', 1_500))).toBe('constraint');
  expect(await one.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('a loop over pages may end early, or throw', async () => {
  await using one = open({ maxConnections: 1 });
  const first = (use: (page: readonly object[]) => number) =>
    one.transaction(async (transaction) => {
      const text = 'SELECT n FROM generate_series(1, $1::int) AS n';
      for await (const page of pagesOf(transaction, text, [2_500], 1_000)) return use(page);
      return 0;
    });
  expect(await first((page) => page.length)).toBe(1_000);
  const stop = new Error('stop');
  const throwing = first(() => {
    throw stop;
  });
  await expect(throwing).rejects.toBe(stop);
  expect(await one.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('a named statement is prepared once, but never behind a pooler', async () => {
  const prepared = async (of: PostgresPool) => {
    for (let i = 0; i < 3; i += 1) await of.query('SELECT $1::int AS n', [i], { name: 'n' });
    return (await of.query('SELECT name FROM pg_prepared_statements')).map(({ name }) => name);
  };
  await using direct = open({ maxConnections: 1 });
  await using behind = open({ maxConnections: 1, throughPooler: true });
  expect([await prepared(direct), await prepared(behind)]).toEqual([['n'], []]);
});

test('behind a pooler the timeouts are those of each transaction', async () => {
  await using behind = open({ maxConnections: 1, throughPooler: true, statementTimeoutMs: 50 });
  expect(await classOf(behind.transaction((transaction) => transaction.query('SELECT pg_sleep(5)')))).toBe('timeout');
  expect(await behind.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '0' }]);
});

test('an advisory lock is held by one transaction at a time, and until its end', async () => {
  await using other = open({ lockTimeoutMs: 20 });
  await pool.transaction(async (transaction) => {
    await lockByName(transaction, 'retention');
    expect(await other.transaction((one) => tryLockByName(one, 'retention'))).toBe(false);
    expect(await other.transaction((one) => tryLockByName(one, 'another'))).toBe(true);
    expect(await classOf(other.transaction((one) => lockByName(one, 'retention')))).toBe('contention');
  });
  expect(await other.transaction((one) => tryLockByName(one, 'retention'))).toBe(true);
});

test('no printed form of a pool or its errors contains the password', async () => {
  const url = new URL(database.dsn.reveal());
  url.password = 'hunter22hunter22';
  await using secretive = open({ dsn: new Secret(url.href) });
  const error = await failureOf(secretive.query('SELECT 1'));
  expect(inspect([secretive, secretive.address, error], { depth: 9, showHidden: true })).not.toContain('hunter22');
});

test.each(['', 'mysql://a:hunter22@b/c', 'postgresql://a:hunter22@b', 'postgresql://a:hunter22@b:port/c', 'not a url hunter22'])(
  'the DSN %j is a fault that does not repeat it',
  (text) => {
    let error: unknown;
    try {
      open({ dsn: new Secret(text) });
    } catch (caught) {
      error = caught;
    }
    expect(codeOf(error)).toBe('invalid_dsn');
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('hunter22');
  },
);

describe('COPY', () => {
  const copy = (text: string) =>
    pool.transaction((transaction) => transaction.copyFrom('COPY items FROM STDIN', Buffer.from(text)));

  test('copies any number of rows in one statement, and none when one is invalid', async () => {
    const rows = Array.from({ length: 50_000 }, (_, id) => `${id}\t${id * 2}\n`);
    expect(await copy(rows.join(''))).toBe(rows.length);
    expect(await classOf(copy('60000\t2\n60001\t3\n'))).toBe('constraint');
    expect(await classOf(copy('1\t2\n'))).toBe('constraint');
    expect(await idsOf(pool)).toHaveLength(rows.length);
    expect(pool.figures()).toMatchObject({ connections: 1, connectionsLost: 0 });
  });

  test('ended by the server is an error of its class, and a broken connection is discarded', async () => {
    await using slow = open({ statementTimeoutMs: 50, applicationName: 'slow' });
    await pool.transaction(async (transaction) => {
      await transaction.query('LOCK TABLE items');
      const blocked = slow.transaction((waiting) => waiting.copyFrom('COPY items FROM STDIN', Buffer.from('1\t2\n')));
      expect(await classOf(blocked)).toBe('timeout');
    });
    const ended = slow.transaction(async (transaction) => {
      await terminate('slow');
      return transaction.copyFrom('COPY items FROM STDIN', Buffer.from('1\t2\n'));
    });
    expect(await classOf(ended)).toBe('connection');
    expect(await idsOf(slow)).toEqual([]);
  });
});
