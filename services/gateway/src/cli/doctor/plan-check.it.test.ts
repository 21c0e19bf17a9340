import { expect, test } from '@jest/globals';
import { planDocument, planDocumentText } from '@vitrine/plans/plan-document';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gatewayCommandLine } from '../registry.ts';
import { readGatewayConfig } from '../../config.ts';
import { readPlans } from '../../limits/plans/read-plans.ts';
import { checkPlans } from './check.ts';

const pro = { rpm: 1, concurrency: 1, freshnessDays: 1, historyDays: 1, enrichBatchMax: 1, liveRefreshesPerPeriod: 0 };

test('plans of a mounted folder: missing, valid, edited, and without effect', async () => {
  await using folder = await temporaryFolder('plans');
  const check = async (more: Readonly<Record<string, string>> = { SVC_AUTH_ENABLED: 'true' }) => {
    const config = readGatewayConfig(undefined, { ...more, SVC_LIMITS_PLANS_DIR: folder.path });
    return checkPlans(config, await readPlans(config));
  };
  const path = join(folder.path, 'plans.json');
  const document = planDocument(7, { pro });
  expect(await check()).toMatchObject({ status: 'warn', details: ['plans: none', 'directory: no plans.json'] });
  await writeFile(path, planDocumentText(document));
  const details = ['plans: pro', `directory: generation 7, ${document.checksum}`];
  expect(await check()).toMatchObject({ status: 'pass', details });
  expect(await check({})).toMatchObject({ status: 'warn', summary: 'plans have no effect, because auth.enabled is false' });
  await writeFile(path, planDocumentText({ ...document, plans: {} }));
  expect(await check()).toMatchObject({
    status: 'fail',
    details: ['plans: none', expect.stringMatching(/^directory: checksum: is /)],
  });
});

test('the command line creates keys with plans of rows, and doctor names the rows that are not valid', async () => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const env = {
    SVC_AUTH_ENABLED: 'true',
    SVC_AUTH_PEPPERS: `1:${'p'.repeat(32)}`,
    SVC_STORAGE_DRIVER: 'postgres',
    SVC_STORAGE_DSN: database.dsn.reveal(),
  };
  const run = (...args: string[]) => runCaptured(gatewayCommandLine, args, { env });
  const create = () => run('keys', 'create', '--role', 'owner', '--plan', 'pro');
  await expect(create()).rejects.toThrow('--plan: unknown plan "pro"; no plan is configured');
  await pool.query('INSERT INTO plans (name, limits) VALUES ($1, $2)', ['pro', JSON.stringify(pro)]);
  expect((await create()).code).toBe(0);
  const healthy = await run('doctor');
  expect([healthy.code, healthy.stdout]).toEqual([
    0,
    expect.stringMatching(/^pass {2}plans: the plans can be read\n {8}plans: pro\n/m),
  ]);
  await pool.query("UPDATE plans SET limits = '{}'");
  const broken = await run('doctor');
  expect(broken.code).toBe(1);
  expect(broken.stdout).toMatch(/^ {8}database: plans\.pro\.rpm: is required/m);
  expect(broken.stdout).toMatch(/^warn {2}auth_posture: requests of some keys are rejected, because their plan does not exist$/m);
});
