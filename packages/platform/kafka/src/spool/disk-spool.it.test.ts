import { expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KafkaRecord } from '../kafka-record.ts';
import { DiskSpool } from './disk-spool.ts';
import { encodeFrame } from './record-frames.ts';

const noError = (error: unknown) => {
  throw error;
};
const numbered = (count: number, from: number = 0): KafkaRecord[] =>
  Array.from({ length: count }, (_, at) => ({ key: `k${from + at}`, value: Buffer.from(`value ${from + at}`) }));
const keys = (records: readonly KafkaRecord[]) => records.map(({ key }) => String(key));
const segments = (path: string) => readdirSync(path).filter((name) => name.endsWith('.segment'));

async function readAll(spool: DiskSpool): Promise<string[]> {
  const read: string[] = [];
  for (let segment = await spool.oldest(); segment !== undefined; segment = await spool.oldest()) {
    read.push(...keys(segment.records));
    await segment.remove();
  }
  return read;
}

test('records are read in the order they were written, across files and processes', async () => {
  await using folder = await temporaryFolder('spool');
  const path = join(folder.path, 'new', 'spool');
  {
    await using spool = await DiskSpool.open({ path, maxBytes: 1e6, segmentBytes: 100 });
    for (let at = 0; at < 100; at += 5) await spool.append(numbered(5, at), noError);
    expect([spool.records, segments(path).length]).toEqual([100, 20]);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    for (const name of segments(path)) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
  }
  await using spool = await DiskSpool.open({ path, maxBytes: 1e6 });
  expect(spool.records).toBe(100);
  await spool.append(numbered(1, 100), noError);
  expect(await readAll(spool)).toEqual(keys(numbered(101)));
  expect([spool.records, spool.bytes, segments(path)]).toEqual([0, 0, []]);
});

test('a full spool accepts records that fit, and more once there is room', async () => {
  await using folder = await temporaryFolder('spool');
  const { length } = encodeFrame(numbered(1)[0] as KafkaRecord);
  await using spool = await DiskSpool.open({ path: folder.path, maxBytes: 3 * length });
  expect(await spool.append(numbered(5), noError)).toEqual(['spooled', 'spooled', 'spooled', 'spool_full', 'spool_full']);
  expect(await readAll(spool)).toEqual(['k0', 'k1', 'k2']);
  expect(await spool.append(numbered(1), noError)).toEqual(['spooled']);
});

test('removing records while others are appended does not mix them', async () => {
  await using folder = await temporaryFolder('spool');
  await using spool = await DiskSpool.open({ path: folder.path, maxBytes: 1e6 });
  await spool.append(numbered(2), noError);
  const first = await spool.oldest();
  await spool.append(numbered(2, 2), noError);
  await first?.remove();
  expect(await readAll(spool)).toEqual(['k2', 'k3']);
});

test('a file cut at any byte opens with the records before the cut and accepts new ones', async () => {
  await using folder = await temporaryFolder('spool');
  const bytes = Buffer.concat(numbered(4).map(encodeFrame));
  const frame = bytes.length / 4;
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const path = join(folder.path, String(cut));
    {
      await using spool = await DiskSpool.open({ path, maxBytes: 1e6 });
      await spool.append(numbered(4), noError);
    }
    truncateSync(join(path, segments(path)[0] ?? ''), cut);
    await using spool = await DiskSpool.open({ path, maxBytes: 1e6 });
    expect(spool.damaged).toBe(cut % frame === 0 ? 0 : 1);
    await spool.append(numbered(1, 9), noError);
    expect(await readAll(spool)).toEqual([...keys(numbered(Math.floor(cut / frame))), 'k9']);
  }
});

test('records accepted before kill -9 survive', async () => {
  await using folder = await temporaryFolder('spool');
  const writer = join(import.meta.dirname, '../testing/append-until-killed.ts');
  const child = spawn(process.execPath, [writer, folder.path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let taken = '';
  child.stdout.on('data', (chunk) => (taken += chunk));
  await waitUntil(() => taken.split('\n').length > 200, { what: 'some records' });
  child.kill('SIGKILL');
  await once(child, 'close');
  const last = Number(taken.trimEnd().split('\n').at(-1));
  await using spool = await DiskSpool.open({ path: folder.path, maxBytes: 1e9 });
  const read = await readAll(spool);
  expect(read.slice(0, last)).toEqual(keys(numbered(last)));
});

test('a second process cannot open the same folder', async () => {
  await using folder = await temporaryFolder('spool');
  await using _ = await DiskSpool.open({ path: folder.path, maxBytes: 1e6 });
  await expect(DiskSpool.open({ path: folder.path, maxBytes: 1e6 })).rejects.toMatchObject({ code: 'storage_locked' });
});

test('a disk error is reported with the result', async () => {
  await using folder = await temporaryFolder('spool');
  const path = join(folder.path, 'spool');
  await using spool = await DiskSpool.open({ path, maxBytes: 1e6 });
  // The next file of the spool already exists.
  writeFileSync(join(path, '0000000000000001.segment'), 'foreign');
  const errors: unknown[] = [];
  expect(await spool.append(numbered(1), (error) => errors.push(error))).toEqual(['spool_failed']);
  expect(errors).toMatchObject([{ code: 'EEXIST' }]);
  expect(readFileSync(join(path, '0000000000000001.segment'), 'utf8')).toBe('foreign');
});
