import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { KeyStore } from '@vitrine/gateway-keys/key-store';
import { createLogger } from '@vitrine/telemetry/logger';
import { newCorrelationId } from '@vitrine/http-api/correlation-id';
import type { GatewayKeys, KeyActor } from '../../auth/keys/gateway-keys.ts';
import { openKeys } from '../../auth/keys/open-keys.ts';
import { readClock } from '../../storage/clocks.ts';
import type { GatewayConfig } from '../../config.ts';
import { commandConfig } from '../config/command-config.ts';
import type { CommandContext } from '@vitrine/command-line/command';

/** The resources of a command that reads or changes gateway keys. */
interface KeyCommand {
  readonly config: GatewayConfig;
  readonly keys: GatewayKeys;
  readonly store: KeyStore;
  readonly hashes: () => TokenHashes;
  /** The command line may change all keys. */
  readonly actor: KeyActor;
  /** Where the keys are stored. */
  readonly place: string;
}

/** Runs `work` with the keys of the configured gateway, which may be running: both use the same store. Resolves to the exit code: that of
 *  `work`, or 0.
 *  Faults: those of `GatewayKeys` and of the configuration, `pepper_unusable`, `storage_unusable`. */
export async function withKeys(
  configOption: string | undefined,
  context: CommandContext,
  work: (of: KeyCommand) => Promise<number | void>,
): Promise<number> {
  const config = commandConfig(configOption, context);
  // Changes are audited in the store; log lines would mix with the output of the command.
  const logger = createLogger('svc-gateway', 'silent', context.stderr);
  await using opened = await openKeys(config, logger, { clock: await readClock(config.storage, logger) });
  const actor: KeyActor = { identity: undefined, correlationId: newCorrelationId() };
  const { keys, store, place, material } = opened;
  return (await work({ config, keys, store, hashes: () => material().hashes, actor, place })) ?? 0;
}

/** Shows a token, which is not stored. */
export function tokenText(token: string, { config, place }: Pick<KeyCommand, 'config' | 'place'>): string {
  const off = config.auth.enabled ? '' : 'The gateway does not require keys yet: set auth.enabled (SVC_AUTH_ENABLED) to true.\n';
  return `\n  ${token}\n\nIt is shown only once. Send it in the header ${config.auth.header}. The key is stored in ${place}.\n${off}`;
}
