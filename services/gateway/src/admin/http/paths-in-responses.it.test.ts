import { expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { mkdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { startTestGateway } from '../../testing/start-test-gateway.ts';

const JSON_HEADERS = { 'content-type': 'application/json' };
const REQUESTS: readonly [string, RequestInit?][] = [
  ['/api/health'],
  ['/readyz'],
  ['/livez'],
  ['/'],
  ['/api/traces'],
  ['/api/traces/0123456789abcdef0123456789abcdef'],
  ['/api/analytics/usage'],
  ['/api/diagnostics/trace-pipeline'],
  ['/api/gateway-keys'],
  ['/api/gateway-keys', { method: 'POST', headers: JSON_HEADERS, body: '{"role":"viewer"}' }],
  ['/api/gateway-keys/none/rotate', { method: 'POST', headers: JSON_HEADERS, body: '{}' }],
  ['/openai/v1/models'],
];

/** Starts a gateway on files in a temporary folder, breaks them, and returns the statuses of all requests. */
async function responsesAfter(
  breakFiles: (folder: string) => void,
): Promise<{ statuses: number[]; text: string; log: string; folder: string }> {
  await using temporary = await temporaryFolder('paths-in-responses');
  const folder = temporary.path;
  await using gateway = await startTestGateway({ SVC_STORAGE_DRIVER: 'sqlite', SVC_STORAGE_PATH: join(folder, 'traces.db') });
  breakFiles(folder);
  const statuses: number[] = [];
  let text = '';
  for (const [path, init] of REQUESTS) {
    const response = await fetch(gateway.url + path, init);
    statuses.push(response.status);
    text += `${await response.text()}${JSON.stringify([...response.headers])}`;
  }
  return { statuses, text, log: gateway.log.join(''), folder };
}

test.each<[string, (folder: string) => void, boolean]>([
  ['the pepper is a folder', (folder) => mkdirSync(join(folder, 'gateway-keys.pepper')), true],
  ['the folder is gone', (folder) => rmSync(folder, { recursive: true }), false],
  ['the traces are cut off', (folder) => truncateSync(join(folder, 'traces.db'), 512), false],
])('no response contains a local path when %s', async (_, breakFiles, isLogged) => {
  const { statuses, text, log, folder } = await responsesAfter(breakFiles);
  expect(statuses.filter((status) => status >= 500).length).toBeGreaterThan(0);
  expect(text).not.toContain(folder);
  expect(text).not.toMatch(/\/tmp\/|\/work|\.db|node_modules/);
  if (isLogged) expect(log).toContain(folder);
});
