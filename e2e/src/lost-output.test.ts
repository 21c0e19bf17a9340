import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chat } from './client-load.ts';
import { GATEWAY, startGateway } from './running-gateway.ts';
import { startProcess } from './running-process.ts';

let opened: AsyncDisposableStack;
let folder: string;
beforeEach(async () => {
  opened = new AsyncDisposableStack();
  folder = opened.use(await temporaryFolder('output')).path;
});
afterEach(async () => opened.disposeAsync());

/** Runs a command with its output elsewhere. */
const outputTo = (script: string): [string, string, string, string] => ['sh', '-c', script, 'sh'];
const TO_A_LEFT_READER = 'pipe=$(mktemp -u); mkfifo "$pipe"; true < "$pipe" & exec "$@" > "$pipe"';
const TO_A_FULL_DISK = 'exec "$@" > /dev/full';
/** CPU time of a process, in clock ticks of 10 ms. */
const ticks = (pid: number) => {
  const [user = '', system = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ').slice(13);
  return Number(user) + Number(system);
};

// Every one of these requests is denied, which is logged.
test.each([
  ['its reader has left', TO_A_LEFT_READER, 0],
  ['the disk is full', TO_A_FULL_DISK, 1],
])('a gateway with a log that cannot be written because %s serves on at rest and stops cleanly', async (_, where, code) => {
  const upstream = opened.use(await startMockOpenai());
  const variables = { SVC_AUTH_ENABLED: 'true' };
  const gateway = opened.use(await startGateway({ folder, upstream: upstream.url, variables, under: outputTo(where) }));
  for (let i = 0; i < 5; i += 1) expect((await chat(gateway.url, { model: 'denied' })).status).toBe(401);
  const before = ticks(gateway.process.pid);
  for (let i = 0; i < 5; i += 1) await gateway.health();
  expect(ticks(gateway.process.pid) - before).toBeLessThan(50);
  expect(gateway.process.stderr).toBe('');
  gateway.process.signal('SIGTERM');
  expect(await gateway.process.end()).toEqual({ code, signal: null });
});

test.each([
  ['--help', TO_A_LEFT_READER, 0],
  ['--help', TO_A_FULL_DISK, 1],
  ['keys create', TO_A_FULL_DISK, 1],
])('gateway %s %s ends with %i and no stack', async (words, where, code) => {
  const env = { SVC_STORAGE_PATH: join(folder, 'traces.db') };
  const command = [...outputTo(where), ...GATEWAY, ...words.split(' ')] as [string, ...string[]];
  await using running = startProcess({ command, env, cwd: folder });
  expect([await running.end(), running.stderr]).toEqual([{ code, signal: null }, '']);
});
