import type { Logger } from '@vitrine/telemetry/logger';
import { existsSync } from 'node:fs';

// Names of `ongoingai/gateway`, the public gateway that first served this API. Names that are the same in both are not listed.

/** Its environment variables, each with its successor, or with the reason why there is none. */
export const OLD_VARIABLES: Readonly<Record<string, string>> = {
  ONGOINGAI_HOST: 'SVC_SERVER_HOST',
  ONGOINGAI_PORT: 'SVC_SERVER_PORT',
  ONGOINGAI_STORAGE_DRIVER: 'SVC_STORAGE_DRIVER',
  ONGOINGAI_STORAGE_PATH: 'SVC_STORAGE_PATH, for a new file; gateway import --from imports the old one',
  ONGOINGAI_STORAGE_DSN: 'SVC_STORAGE_DSN, for a new database',
  ONGOINGAI_OPENAI_UPSTREAM: 'SVC_PROVIDERS_OPENAI_UPSTREAM',
  ONGOINGAI_ANTHROPIC_UPSTREAM: 'SVC_PROVIDERS_ANTHROPIC_UPSTREAM',
  ONGOINGAI_CAPTURE_BODIES: 'SVC_TRACING_CAPTURE_BODIES',
  ONGOINGAI_BODY_MAX_SIZE: 'SVC_TRACING_BODY_MAX_SIZE',
  ONGOINGAI_PROMETHEUS_ENABLED: 'SVC_PROMETHEUS_ENABLED',
  ONGOINGAI_PROMETHEUS_PATH: 'SVC_PROMETHEUS_PATH',
  ONGOINGAI_PII_MODE: 'SVC_PII_MODE',
  ONGOINGAI_PII_POLICY_ID: 'SVC_PII_POLICY_ID',
  ONGOINGAI_PII_HASH_SALT: 'SVC_PII_REPLACEMENT_HASH_SALT',
  ONGOINGAI_AUTH_ENABLED: 'SVC_AUTH_ENABLED',
  ONGOINGAI_AUTH_HEADER: 'SVC_AUTH_HEADER',
};

/** Keys of its YAML file that this gateway does not have. `[]` stands for a place in a list. */
export const OLD_KEYS: Readonly<Record<string, string>> = {
  'pii.stages': 'remove it: headers and bodies of both directions are always redacted',
  'auth.keys[].team': 'use auth.keys[].workspace_id',
  'auth.keys[].created_by': 'remove it: keys of the file are created by system',
};

/** Its default configuration file. */
const OLD_CONFIG_FILE = 'ongoingai.yaml';

const PREFIX = 'ONGOINGAI_';

/** Its variables that are set, with their successors. Values are not read. */
export function oldVariablesIn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = Object.keys(env).filter((name) => name.startsWith(PREFIX));
  return Object.fromEntries(names.toSorted().map((name) => [name, OLD_VARIABLES[name] ?? 'none']));
}

/** The successor of a key of its YAML file, for the error of an unknown key (`auth.keys.0.team`). */
export function oldKeyHint(path: string): string | undefined {
  const hint = OLD_KEYS[path.replaceAll(/\.\d+(?=\.|$)/g, '[]')];
  return hint && `it was a key of ongoingai/gateway; ${hint}`;
}

/** Settings of `ongoingai/gateway`, which are not read here, with their successors. `isFileRead`: whether a YAML file is read; otherwise
 *  its default file counts as a setting too. */
export function oldSettingsIn(
  env: Readonly<Record<string, string | undefined>>,
  isFileRead: boolean,
): Readonly<Record<string, string>> {
  const hasOldFile = !isFileRead && existsSync(OLD_CONFIG_FILE);
  const file = { [`./${OLD_CONFIG_FILE}`]: `--config ${OLD_CONFIG_FILE} (or SVC_CONFIG), or the name vitrine.yaml` };
  return { ...oldVariablesIn(env), ...(hasOldFile ? file : {}) };
}

/** One sentence per setting. */
export function oldSettingSentences(settings: ReturnType<typeof oldSettingsIn>): string[] {
  return Object.entries(settings).map(
    ([name, instead]) => `${name} is a setting of ongoingai/gateway and is not read; use instead: ${instead}`,
  );
}

/** Logs the settings in one line, if there are any. A warning, because both gateways may run side by side. */
export function warnOfOldSettings(settings: ReturnType<typeof oldSettingsIn>, logger: Logger): void {
  if (Object.keys(settings).length > 0) logger.warn({ settings }, 'settings of ongoingai/gateway are not read');
}
