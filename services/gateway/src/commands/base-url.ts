import type { GatewayConfig } from '../config.ts';

/** Where a program on this machine reaches the configured gateway, without a slash at the end; undefined when it takes any free
 *  port. */
export function baseUrlOf({ server: { host, port } }: Pick<GatewayConfig, 'server'>): string | undefined {
  if (port === 0) return undefined;
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
