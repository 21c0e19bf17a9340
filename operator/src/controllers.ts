import type { ControllerContext } from './controller-context.ts';
import { createGatewayKeyController } from './gateway-key/gateway-key-controller.ts';
import type { Transactions } from './leadership/fenced-database.ts';
import { createPlanLimitsController } from './plan-limits/plan-limits-controller.ts';
import type { Controller } from './runtime/controller.ts';

/** Makes the controllers of a leader, which writes rows through `database`. */
export function createControllers(context: ControllerContext): (database: Transactions) => readonly Controller[] {
  return (database) => {
    const controllers = [createGatewayKeyController(context, database), createPlanLimitsController(context, database)];
    for (const { name } of controllers) context.telemetry.controllerStarted(name);
    return controllers;
  };
}
