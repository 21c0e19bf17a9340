import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Logger } from '@vitrine/telemetry/logger';
import type { OperatorConfig } from './config.ts';
import type { Transactions } from './leadership/fenced-database.ts';
import type { OperatorTelemetry } from './observability/operator-telemetry.ts';
import type { ApiServer } from './runtime/api-server.ts';
import type { Controller } from './runtime/controller.ts';

/** What all controllers share. */
export interface ControllerContext {
  readonly config: OperatorConfig;
  readonly server: ApiServer;
  /** For reads. */
  readonly pool: PostgresPool;
  readonly logger: Logger;
  readonly telemetry: OperatorTelemetry;
}

/** Makes the controllers of a leader, which writes rows through `database`. */
export function createControllers(context: ControllerContext): (database: Transactions) => readonly Controller[] {
  return () => {
    const controllers: Controller[] = [];
    for (const { name } of controllers) context.telemetry.controllerStarted(name);
    return controllers;
  };
}
