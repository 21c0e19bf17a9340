import type { Logger } from '@vitrine/telemetry/logger';
import { existsSync } from 'node:fs';
import { OLD_CONFIG_FILE, oldVariablesIn } from './old-names.ts';

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
