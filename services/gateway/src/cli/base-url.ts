import type { GatewayConfig } from '../config.ts';
import { urlOf } from '@vitrine/http-api/server/listen';

/** The URL of the configured gateway for a program on this machine, without a slash at the end; undefined when it listens on any
 *  free port. */
export function baseUrlOf({ server: { host, port } }: Pick<GatewayConfig, 'server'>): string | undefined {
  return port === 0 ? undefined : urlOf(host, port);
}
