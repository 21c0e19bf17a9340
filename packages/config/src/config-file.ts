import { Fault, messageOf } from '@vitrine/faults/fault';
import { existsSync, readFileSync } from 'node:fs';

/** The YAML file to read: the one that was named, else `usual` when it is there. Faults: `config_unreadable`. */
export function readConfigFile(named: string | undefined, usual: string): { path: string; text: string } | undefined {
  const path = named ?? (existsSync(usual) ? usual : undefined);
  if (path === undefined) return undefined;
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch (cause) {
    throw new Fault('config_unreadable', { say: `the configuration file ${path} cannot be read: ${messageOf(cause)}`, cause });
  }
}
