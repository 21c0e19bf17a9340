import { argv, stdout } from 'node:process';
import { writeSync } from 'node:fs';
import { DiskSpool } from '../spool/disk-spool.ts';

// Appends records to the spool in the folder of the first argument, and prints the number of accepted records, until it is killed.
const spool = await DiskSpool.open({ path: argv[2] ?? '', maxBytes: 1e9, segmentBytes: 10_000 });
for (let count = 0; ; count += 1) {
  const [result] = await spool.append([{ key: `k${count}`, value: Buffer.from(`value ${count}`) }], (error) => {
    throw error;
  });
  if (result === 'spooled') writeSync(stdout.fd, `${count + 1}\n`);
}
