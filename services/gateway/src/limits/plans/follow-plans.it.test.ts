import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { upsertPlan } from '@vitrine/plans/plan-changes';
import { planDocument, planDocumentText } from '@vitrine/plans/plan-document';
import { planLimits } from '@vitrine/plans/plan-limits';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { openTcpProxy, type TcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { createLogger } from '@vitrine/telemetry/logger';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { followPlans, type PlanSources } from './follow-plans.ts';
import { LivePlans } from './live-plans.ts';

const limitsOf = (rpm: number) =>
  planLimits.parse({ rpm, concurrency: 1, freshnessDays: 1, historyDays: 1, enrichBatchMax: 1, liveRefreshesPerPeriod: 0 });

let stack: AsyncDisposableStack;
let folder: string;
let lines: string[];
let live: LivePlans;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  folder = stack.use(await temporaryFolder('plans')).path;
  lines = [];
  live = new LivePlans(createLogger('test', 'info', { write: (line) => lines.push(line) }));
});
afterEach(() => stack.disposeAsync());

async function follow(sources: Partial<PlanSources>): Promise<void> {
  const logger = createLogger('test', 'info', { write: (line) => lines.push(line) });
  const all = { pool: undefined, directory: folder, directoryIntervalMs: 10, ...sources };
  stack.use(await followPlans(live, all, logger));
}

let versions = 0;
/** Works like the kubelet: writes a new folder, renames a link to it onto `..data`, and the files are links through `..data`. */
async function mount(text: string): Promise<void> {
  versions += 1;
  const version = `..version-${versions}`;
  await mkdir(join(folder, version));
  await writeFile(join(folder, version, 'plans.json'), text);
  await symlink(version, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
  await symlink('..data/plans.json', join(folder, 'plans.json')).catch(() => {});
}
const documentText = (generation: number, rpm: number) => planDocumentText(planDocument(generation, { pro: limitsOf(rpm) }));
const state = () => [live.applied.generation, live.applied.plans['pro']?.rpm];
const until = (generation: number) =>
  waitUntil(() => live.applied.generation === generation, { what: `generation ${generation}` });
const logged = (pattern: RegExp) => waitUntil(() => lines.find((line) => pattern.test(line)), { what: String(pattern) });

describe('the folder of a mounted ConfigMap', () => {
  test('is read at the start, and again when ..data is swapped', async () => {
    await mount(documentText(4, 40));
    await follow({});
    expect(state()).toEqual([4, 40]);
    await mount(documentText(5, 50));
    await until(5);
    expect(state()).toEqual([5, 50]);
  });

  test('may be created after the start', async () => {
    await follow({ directory: join(folder, 'later') });
    expect(state()).toEqual([0, undefined]);
    folder = join(folder, 'later');
    await mkdir(folder);
    await mount(documentText(1, 10));
    await until(1);
    expect(lines).toHaveLength(1);
  });

  test.each([
    ['is not JSON', () => '{"generation": 9', /not JSON/],
    ['was edited', () => documentText(9, 10).replace('"rpm": 10', '"rpm": 99'), /plans were changed or are incomplete/],
    ['is too large', () => documentText(9, 10) + ' '.repeat(1_048_576), /has \d+ bytes; at most 1048576/],
  ])('that %s is ignored with the reason, and the last valid plans stay', async (_, text, reason) => {
    await mount(documentText(8, 80));
    await follow({});
    await mount(text());
    expect(await logged(reason)).toMatch(/plans ignored: invalid document/);
    expect(state()).toEqual([8, 80]);
    await mount(documentText(10, 100));
    await until(10);
  });

  test('that is removed leaves the last plans in effect', async () => {
    await mount(documentText(8, 80));
    let reads = 0;
    await follow({});
    await rm(join(folder, 'plans.json'));
    live.onChange = () => (reads += 1);
    await mount(documentText(9, 90));
    await until(9);
    expect([state(), reads]).toEqual([[9, 90], 1]);
  });
});

describe('rows and folder', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let writer: PostgresPool;
  let pool: PostgresPool;

  beforeEach(async () => {
    database = stack.use(await templateDatabase());
    proxy = stack.use(await openTcpProxy(database.dsn));
    writer = stack.use(new PostgresPool({ dsn: database.dsn, applicationName: 'operator' }));
    pool = stack.use(new PostgresPool({ dsn: proxy.dsn, applicationName: 'gateway', connectTimeoutMs: 500 }));
  });
  const write = (rpm: number) => writer.transaction((transaction) => upsertPlan(transaction, 'pro', limitsOf(rpm)));

  test('the higher generation applies, whichever source has it', async () => {
    await write(1);
    await mount(documentText(3, 30));
    await follow({ pool });
    expect(state()).toEqual([3, 30]);
    await write(2);
    await writer.query("INSERT INTO workspace_plans VALUES ('acme', 'search', 'pro')");
    await waitUntil(() => live.applied.workspaces.length === 1, { what: 'the plan of the workspace' });
    // Equal generations are equal plans: the rows apply.
    expect(state()).toEqual([3, 2]);
    await write(4);
    await until(4);
    expect(state()).toEqual([4, 4]);
  });

  test('while the database is unavailable at the start the folder applies, and afterwards the rows', async () => {
    await write(1);
    await write(2);
    await mount(documentText(1, 1));
    await proxy.close();
    await follow({ pool });
    expect(state()).toEqual([1, 1]);
    expect(await logged(/plans refresh failed/)).toMatch(/"source":"database"/);
    await proxy.open();
    await until(2);
    expect(state()).toEqual([2, 2]);
  });

  test('a change during a lost LISTEN connection is detected', async () => {
    await follow({ pool });
    await proxy.close();
    await write(1);
    await proxy.open();
    await until(1);
  });

  test('a change without a notification is detected by the poll', async () => {
    await follow({ pool, rowsIntervalMs: 20 });
    await writer.query('ALTER TABLE plan_generation DISABLE TRIGGER plan_generation_raised');
    await write(1);
    await until(1);
  });

  test('rows that are valid again are applied, without a restart', async () => {
    await write(1);
    await follow({ pool });
    await writer.query('UPDATE plans SET limits = limits || \'{"rpms": 5}\'');
    expect(await logged(/plans ignored: invalid document/)).toMatch(/plans\.pro\.rpms: unknown key/);
    expect(state()).toEqual([1, 1]);
    await write(3);
    await until(3);
    expect(state()).toEqual([3, 3]);
  });
});
