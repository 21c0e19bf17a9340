import type { GatewayConfig } from '../config.ts';
import { urlOf } from '../http/listen.ts';

/** Where a program on this machine reaches the configured gateway, without a slash at the end; undefined when it takes any free
 *  port. */
export function baseUrlOf({ server: { host, port } }: Pick<GatewayConfig, 'server'>): string | undefined {
  return port === 0 ? undefined : urlOf(host, port);
}
