import { hostname } from 'node:os';
import type { ControllerContext } from './controller-context.ts';
import { createGatewayKeyController } from './gateway-key/gateway-key-controller.ts';
import type { Transactions } from './leadership/fenced-database.ts';
import { createPlanLimitsController } from './plan-limits/plan-limits-controller.ts';
import type { ApiRequests } from './runtime/api-server.ts';
import type { Controller } from './runtime/controller.ts';
import { EventRecorder } from './runtime/event-recorder.ts';

/** Makes the controllers of a leader, which writes objects through `server` and rows through `database`. */
export function createControllers(
  shared: Omit<ControllerContext, 'server' | 'events'>,
): (server: ApiRequests, database: Transactions) => readonly Controller[] {
  return (server, database) => {
    const reporter = { controller: 'vitrine.dev/operator', instance: hostname() };
    const events = new EventRecorder(server, reporter, (err) => shared.logger.debug({ err }, 'event not recorded'));
    const context: ControllerContext = { ...shared, server, events };
    const controllers = [createGatewayKeyController(context, database), createPlanLimitsController(context, database)];
    for (const { name } of controllers) context.telemetry.controllerStarted(name);
    return controllers;
  };
}
