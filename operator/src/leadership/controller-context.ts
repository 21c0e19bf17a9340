import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Logger } from '@vitrine/telemetry/logger';
import type { OperatorConfig } from '../config.ts';
import type { OperatorTelemetry } from '../observability/operator-telemetry.ts';
import type { EventRecorder } from '../runtime/event-recorder.ts';
import type { ApiRequests } from '../runtime/kubernetes-client.ts';

/** What all controllers share. */
export interface ControllerContext {
  readonly config: OperatorConfig;
  readonly server: ApiRequests;
  /** For reads. */
  readonly pool: PostgresPool;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly logger: Logger;
  readonly telemetry: OperatorTelemetry;
  readonly events: EventRecorder;
  /** Of tokens, with the peppers of the gateways. */
  readonly hashes: TokenHashes;
  /** For tests: how long gateways may take to accept a token. */
  readonly propagationMs?: number;
}
