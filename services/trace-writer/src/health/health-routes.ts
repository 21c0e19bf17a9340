import { probeOperation } from '@vitrine/http-api/probe-operation';
import type { Route } from '@vitrine/http-api/route';
import { serviceRoutes } from '@vitrine/http-api/service-routes';
import type { ConsumerFigures, ConsumerStatus } from '@vitrine/kafka/consume/kafka-consumer';
import { z } from 'zod';
import { VERSION } from '../version.ts';
import { HEALTH_REASONS, healthReasons, waitingFor, type PipelineState } from './pipeline-state.ts';

const count = z.int().min(0);
const details = {
  consumer: z.enum(['connecting', 'running', 'paused', 'stopped'] satisfies ConsumerStatus[]).optional(),
  lag_records: count.optional(),
  assigned_partitions: count,
};

/** Faults of these routes. */
export const HEALTH_FAULTS = { statuses: { not_ready: 503 }, expected: ['not_ready'] };

/** Health, which responds with 200 as long as the process does, and readiness, which says what the service waits for. */
export function healthRoutes(
  state: () => PipelineState,
  figures: () => ConsumerFigures | undefined,
  uptimeSec: () => number,
): Route[] {
  const readDetails = async () => {
    const { consumer } = state();
    const { lagRecords, assignedPartitions = 0 } = figures() ?? {};
    return {
      ...(consumer !== undefined && { consumer }),
      ...(lagRecords !== undefined && { lag_records: lagRecords }),
      assigned_partitions: assignedPartitions,
    };
  };
  const ready = probeOperation({
    status: 'ready',
    summary: 'Says whether the service consumes and writes, or what it waits for.',
    failure: () => waitingFor(state()),
  });
  return [
    ...serviceRoutes({
      name: 'trace-writer',
      version: VERSION,
      uptimeSec,
      reasons: HEALTH_REASONS,
      degradedBy: () => healthReasons(state()),
      details,
      readDetails,
    }),
    { path: '/api/ready', GET: ready },
  ];
}
