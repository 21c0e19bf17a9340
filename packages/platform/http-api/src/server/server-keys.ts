import { z } from 'zod';
import { IDLE_GRACE_MS, MAX_IDLE_GRACE_MS } from './http-server.ts';

/** Keys under `server` of every service: where it listens. */
export const listenKeys = (port: number) => ({
  host: z.string().min(1).default('0.0.0.0'),
  /** 0: any free port. */
  port: z.int().min(0).max(65_535).default(port),
});

/** The same of services that clients use. */
export const clientServerKeys = (port: number, maxConnections: number) => ({
  ...listenKeys(port),
  /** Further connections are closed at once. */
  max_connections: z.int().min(1).max(65_535).default(maxConnections),
  /** How long a stopping service keeps idle connections for their next request, whose response closes them. */
  idle_grace_ms: z.int().min(0).max(MAX_IDLE_GRACE_MS).default(IDLE_GRACE_MS),
});
