import { expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { foreignFile } from './database-file.ts';

const FILES = 300;

test('a file that another thread is creating is never foreign', async () => {
  await using folder = await temporaryFolder('sqlite');
  const paths = Array.from({ length: FILES }, (_, i) => join(folder.path, `${i}.db`));
  const made = new Int32Array(new SharedArrayBuffer(4));
  const sql = 'CREATE TABLE things (a); CREATE TABLE others (b); PRAGMA user_version = 2';
  const worker = new Worker(new URL('./testing/make-databases.ts', import.meta.url), { workerData: { paths, sql, made } });
  const ended = new Promise<number>((resolve, reject) => worker.once('exit', resolve).once('error', reject));

  const found = new Set<string | undefined>();
  let reads = 0;
  for (let done = 0; done < FILES; done = Atomics.load(made, 0)) {
    found.add(foreignFile(paths[done] ?? '', { what: 'a database of things', tables: ['things', 'others'], version: 2 }));
    reads += 1;
  }

  expect(await ended).toBe(0);
  expect([...found]).toEqual([undefined]);
  expect(reads).toBeGreaterThan(FILES);
});
