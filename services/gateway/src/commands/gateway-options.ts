import { usageError, type CommandContext } from './command.ts';

/** Where commands look for a gateway key, out of sight of other users. */
export const KEY_VARIABLE = 'VITRINE_GATEWAY_KEY';

const VISIBLE = /^[\x21-\x7e]+$/;

/** A gateway key that was given; anything that no header can carry is a usage error, which does not repeat it. */
export function gatewayKeyOption(input: string | undefined, { env }: Pick<CommandContext, 'env'>): string | undefined {
  const key = (input ?? env[KEY_VARIABLE])?.trim() || undefined;
  if (key !== undefined && !VISIBLE.test(key)) throw usageError('a gateway key has visible ASCII characters only');
  return key;
}

/** `--base-url`, without slashes at its end; anything but an http:// or https:// URL is a usage error. */
export function baseUrlOption(input: string | undefined): string | undefined {
  if (input === undefined) return undefined;
  const isUrl = URL.canParse(input) && /^https?:$/.test(new URL(input).protocol);
  if (!isUrl) throw usageError('--base-url must be an http:// or https:// URL');
  return input.replace(/\/+$/, '');
}
