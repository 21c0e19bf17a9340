import { Fault, messageOf } from '@vitrine/faults/fault';
import { existsSync, readFileSync } from 'node:fs';

/** Which configuration file is read, and the source of its name. */
export interface ConfigLocation {
  /** Undefined when there is none. */
  readonly path: string | undefined;
  /** `--config`, the name of the variable, `default` or `none`. */
  readonly source: string;
}

/** The file of the option `--config`, else of the variable, else the default file if it exists. An empty variable is ignored. */
export function locateConfigFile(
  option: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  { variable, defaultFile }: { readonly variable: string; readonly defaultFile: string },
): ConfigLocation {
  if (option !== undefined) return { path: option, source: '--config' };
  const path = env[variable] ?? '';
  if (path !== '') return { path, source: variable };
  return existsSync(defaultFile) ? { path: defaultFile, source: 'default' } : { path: undefined, source: 'none' };
}

/** The text of a configuration file; undefined without a path. Faults: `config_unreadable`. */
export function readConfigFile(path: string | undefined): { path: string; text: string } | undefined {
  if (path === undefined) return undefined;
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch (cause) {
    throw new Fault('config_unreadable', { say: `the configuration file ${path} cannot be read: ${messageOf(cause)}`, cause });
  }
}
