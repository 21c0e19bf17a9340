import { createLogger } from '@vitrine/telemetry/logger';
import { newCorrelationId } from '../http/correlation-id.ts';
import type { GatewayKeys, KeyActor } from '../admin-keys/gateway-keys.ts';
import { openKeys } from '../auth/open-keys.ts';
import type { GatewayConfig } from '../config.ts';
import { commandConfig } from './command-config.ts';
import type { CommandContext } from './command.ts';

export interface KeyCommand {
  readonly config: GatewayConfig;
  readonly keys: GatewayKeys;
  /** Whoever has the machine has all keys. */
  readonly actor: KeyActor;
  /** Where the keys are kept. */
  readonly path: string;
}

/** Runs `work` on the keys of the configured gateway, which may be running: both use the same file. Faults: those of `GatewayKeys`
 *  and of the configuration, `pepper_unusable`, `storage_unusable`. */
export async function withKeys(
  named: string | undefined,
  context: CommandContext,
  work: (of: KeyCommand) => Promise<void>,
): Promise<number> {
  const config = commandConfig(named, context);
  // What is changed is audited in the store; lines would stand in the way of what the command prints.
  await using opened = openKeys(config, createLogger('svc-gateway', 'silent', context.stderr));
  const actor: KeyActor = { identity: undefined, correlationId: newCorrelationId() };
  await work({ config, keys: opened.keys, actor, path: opened.path });
  return 0;
}

/** Tells people of a token, once. */
export function tokenText(token: string, { config, path }: Pick<KeyCommand, 'config' | 'path'>): string {
  const off = config.auth.enabled ? '' : 'The gateway asks for no key yet: set auth.enabled (SVC_AUTH_ENABLED) to true.\n';
  return `\n  ${token}\n\nIt is shown this once. Send it in the header ${config.auth.header}. The key is kept in ${path}.\n${off}`;
}
