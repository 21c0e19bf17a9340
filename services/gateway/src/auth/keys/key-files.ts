import { basename, dirname, join } from 'node:path';

const DATABASE = 'gateway-keys.db';
const PEPPER = 'gateway-keys.pepper';

/** The files of gateway keys and of the pepper of their hashes, in the folder of the traces. */
export function keyFiles(storagePath: string): { readonly folder: string; readonly database: string; readonly pepper: string } {
  const folder = dirname(storagePath);
  return { folder, database: join(folder, DATABASE), pepper: join(folder, PEPPER) };
}

/** Whether a trace file of this path would be one of these files. */
export function isKeyFile(storagePath: string): boolean {
  return [DATABASE, PEPPER].includes(basename(storagePath));
}
