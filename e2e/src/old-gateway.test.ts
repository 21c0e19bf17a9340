import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OngoingaiStore } from '@vitrine/testkit/ongoingai-store';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GATEWAY, STANDALONE } from './running-gateway.ts';
import { freePort, startProcess } from './running-process.ts';

// What somebody sees who comes from ongoingai/gateway.

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder('old-gateway');
});
afterAll(async () => folder[Symbol.asyncDispose]());

async function newFolder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const cwd = join(folder.path, crypto.randomUUID());
  await mkdir(cwd);
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  return cwd;
}

async function run(line: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
  await using running = startProcess({ command: [...GATEWAY, ...line.split(' ')], cwd, env });
  const { code } = await running.end();
  return { code, stdout: running.stdout, stderr: running.stderr };
}

const OLD_VARIABLES = { ONGOINGAI_PORT: '9090', ONGOINGAI_STORAGE_DSN: 'postgres://u:hunter2@db/x' };
const WARNING = 'settings of ongoingai/gateway are not read';

describe("the old gateway's variables and file", () => {
  test('serve and npm start say of all of them once which ones take their place, and start', async () => {
    for (const command of [GATEWAY, STANDALONE]) {
      const port = await freePort();
      const cwd = await newFolder({ 'ongoingai.yaml': 'server: { port: 9090 }' });
      const env = { SVC_SERVER_PORT: String(port), ...OLD_VARIABLES };
      await using running = startProcess({ command, cwd, env });
      await running.answers(`http://127.0.0.1:${port}/api/health`);
      running.signal('SIGTERM');
      expect((await running.end()).code).toBe(0);
      const said = running.stdout + running.stderr;
      const lines = said.split('\n').filter((line) => line.includes(WARNING));
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        level: 'warn',
        settings: {
          ONGOINGAI_PORT: 'SVC_SERVER_PORT',
          ONGOINGAI_STORAGE_DSN: expect.stringContaining('none: '),
          './ongoingai.yaml': expect.stringContaining('vitrine.yaml'),
        },
      });
      expect(said).not.toContain('hunter2');
    }
  });

  test('without any there is no such line', async () => {
    const port = await freePort();
    const cwd = await newFolder({ 'vitrine.yaml': '', 'ongoingai.yaml': '' });
    await using running = startProcess({ command: GATEWAY, cwd, env: { SVC_SERVER_PORT: String(port) } });
    await running.answers(`http://127.0.0.1:${port}/api/health`);
    expect(running.stdout).not.toContain(WARNING);
  });

  test('doctor and config validate warn of each, doctor also where the configuration is not valid', async () => {
    const cwd = await newFolder({ 'ongoingai.yaml': '' });
    const sentence = 'ONGOINGAI_PORT is a setting of ongoingai/gateway and is not read; instead: SVC_SERVER_PORT';
    const doctor = await run('doctor --format json', cwd, OLD_VARIABLES);
    const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; status: string; details: string[] }[] };
    expect(doctor.code).toBe(0);
    expect(checks.find(({ name }) => name === 'config')).toMatchObject({
      status: 'warn',
      details: expect.arrayContaining([sentence, expect.stringMatching(/^\.\/ongoingai\.yaml is a setting/)]),
    });
    expect((await run('config validate', cwd, OLD_VARIABLES)).stdout).toContain(`Warning: ${sentence}.\n`);
    const invalid = await run('doctor', cwd, { ...OLD_VARIABLES, SVC_SERVER_PORT: 'many' });
    expect([invalid.code, invalid.stdout]).toEqual([1, expect.stringContaining(sentence)]);
    expect(doctor.stdout + invalid.stdout).not.toContain('hunter2');
  });

  test('a key of its file that there is not says what takes its place', async () => {
    const cwd = await newFolder({ 'ongoingai.yaml': 'pii: { stages: { request_body: true } }\nstorage: { dsn: x }' });
    const { code, stderr } = await run('config validate --config ongoingai.yaml', cwd);
    expect(code).toBe(1);
    expect(stderr).toContain('pii.stages: unknown key: it was a key of ongoingai/gateway; leave it out');
    expect(stderr).toContain('storage.dsn: unknown key: it was a key of ongoingai/gateway; there is none here');
  });
});

test('its trace file as storage.path is refused by everybody who would open it, with what to do, and stays as it was', async () => {
  const cwd = await newFolder();
  using old = new OngoingaiStore(join(cwd, 'ongoingai.db'));
  old.add([{ id: 'a'.repeat(32), completedAt: Date.UTC(2026, 1, 12) }]);
  const env = { SVC_STORAGE_PATH: './ongoingai.db', SVC_SERVER_PORT: '0' };
  const text =
    'holds the traces of ongoingai/gateway: name another file, and bring them over with gateway import --from ./ongoingai.db';
  for (const line of ['serve', 'report', 'debug', 'doctor']) {
    const { code, stdout, stderr } = await run(line, cwd, env);
    expect([line, code, stdout + stderr]).toEqual([line, 1, expect.stringContaining(text)]);
  }
  expect(old.count).toBe(1);
});
