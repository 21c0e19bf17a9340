import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import type { MockProvider } from '@vitrine/testkit/mock-provider';
import { pseudoRandomBytes } from '@vitrine/testkit/pseudo-random-bytes';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { startGateway } from './running-gateway.ts';

const MEBIBYTE = 1_048_576;
const CHUNKS = 300;
/** V8 collects forwarded buffers only when it needs their memory: it grew by 76 to 90 MB for 100 MB each way, and for six times as much. */
const GROWTH_MAX_MB = 128;

let upstream: MockProvider;
beforeAll(async () => {
  upstream = await startMockOpenai();
});
afterAll(async () => upstream[Symbol.asyncDispose]());

/** Resident memory of a process and the most it ever was, in MB. Linux only, as CI is. */
function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024;
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') };
}

/** Sends a chunk many times, reads the echo at the same time, and returns the hash of the received bytes. */
async function echo(url: string, chunk: Buffer, chunks: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { authorization: 'Bearer sk-test-0123', 'content-type': 'application/octet-stream', 'x-mock-scenario': 'echo' };
  const request = httpRequest(`${url}/openai/v1/files`, { method: 'POST', headers }, (response) => {
    const hash = createHash('sha256');
    response.on('data', (chunk: Buffer) => hash.update(chunk));
    response.on('error', reject);
    response.on('end', () => resolve(hash.digest('hex')));
  });
  request.on('error', reject);
  for (let i = 0; i < chunks; i += 1) {
    if (!request.write(chunk)) await new Promise((drained) => request.once('drain', drained));
  }
  request.end();
  return promise;
}

describe('300 MB each way', () => {
  test.each([
    ['off', {}],
    ['on', { SVC_TRACING_CAPTURE_BODIES: 'true' }],
  ])(`pass byte for byte while memory grows by less than ${GROWTH_MAX_MB} MB, bodies %s`, async (_, variables) => {
    await using folder = await temporaryFolder('large');
    await using gateway = await startGateway({ folder: folder.path, upstream: upstream.url, variables });
    const chunk = pseudoRandomBytes(MEBIBYTE);
    const expected = createHash('sha256');
    for (let i = 0; i < CHUNKS; i += 1) expected.update(chunk);
    // The memory that a first exchange loads is not part of what a large one holds.
    await echo(gateway.url, chunk, 1);
    await gateway.health();
    const before = memoryOf(gateway.process.pid).now;
    expect(await echo(gateway.url, chunk, CHUNKS)).toBe(expected.digest('hex'));
    expect(memoryOf(gateway.process.pid).peak - before).toBeLessThan(GROWTH_MAX_MB);
  });
});
