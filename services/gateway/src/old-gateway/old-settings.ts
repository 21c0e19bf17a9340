import type { Logger } from '@vitrine/telemetry/logger';
import { existsSync } from 'node:fs';
import { OLD_CONFIG_FILE, oldVariablesIn } from './old-names.ts';

/** What was set for `ongoingai/gateway` and is not read here: what it is called -> what to use instead. `isFileRead`: whether a YAML
 *  file is read at all; when none is, its own may be lying there. */
export function oldSettingsIn(
  env: Readonly<Record<string, string | undefined>>,
  isFileRead: boolean,
): Readonly<Record<string, string>> {
  const isThere = !isFileRead && existsSync(OLD_CONFIG_FILE);
  const file = { [`./${OLD_CONFIG_FILE}`]: `--config ${OLD_CONFIG_FILE} (or SVC_CONFIG), or the name vitrine.yaml` };
  return { ...oldVariablesIn(env), ...(isThere ? file : {}) };
}

/** The same in sentences. */
export function oldSettingSentences(settings: ReturnType<typeof oldSettingsIn>): string[] {
  return Object.entries(settings).map(
    ([name, instead]) => `${name} is a setting of ongoingai/gateway and is not read; instead: ${instead}`,
  );
}

/** Says all of it in one line of the log, if there is any: both gateways may run side by side, so it is no error. */
export function warnOfOldSettings(settings: ReturnType<typeof oldSettingsIn>, logger: Logger): void {
  if (Object.keys(settings).length > 0) logger.warn({ settings }, 'settings of ongoingai/gateway are not read');
}
