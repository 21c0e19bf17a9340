import type { Pepper } from '@vitrine/credentials/pepper';
import { readPepperFile } from '@vitrine/credentials/pepper-file';
import { Fault, messageOf } from '@vitrine/faults/fault';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The gateway's peppers: those of a file, or of the files of a folder by name, as a Secret is mounted. The operator never makes one: gateways
 *  would not know it. Faults: `pepper_unusable`. */
export function readPeppers(path: string): Pepper[] {
  const peppers = filesOf(path).flatMap((file) => readPepperFile(file) ?? []);
  if (peppers.length === 0)
    throw new Fault('pepper_unusable', { say: `${path} has no pepper: mount that of the gateways there` });
  return peppers;
}

function filesOf(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    // The kubelet keeps what it mounts in folders whose names begin with two dots.
    return readdirSync(path)
      .filter((name) => !name.startsWith('.'))
      .toSorted()
      .map((name) => join(path, name));
  } catch (cause) {
    throw new Fault('pepper_unusable', { say: `${path}: the pepper of gateway keys cannot be read: ${messageOf(cause)}`, cause });
  }
}
