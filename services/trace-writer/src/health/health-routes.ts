import type { Route } from '@vitrine/http-api/route';
import { serviceRoutes } from '@vitrine/http-api/service-routes';
import type { ConsumerFigures, ConsumerStatus } from '@vitrine/kafka/consume/kafka-consumer';
import { z } from 'zod';
import { VERSION } from '../version.ts';
import { HEALTH_REASONS, healthReasons, type PipelineState } from './pipeline-state.ts';

const count = z.int().min(0);
const details = {
  consumer: z.enum(['connecting', 'running', 'paused', 'stopped'] satisfies ConsumerStatus[]).optional(),
  lag_records: count.optional(),
  assigned_partitions: count,
};

/** Health, which responds with 200 as long as the process does, and says what the service waits for. */
export function healthRoutes(
  state: () => PipelineState,
  figures: () => ConsumerFigures | undefined,
  uptimeSec: () => number,
): Route[] {
  const readDetails = () => {
    const { consumer } = state();
    const { lagRecords, assignedPartitions = 0 } = figures() ?? {};
    return {
      ...(consumer !== undefined && { consumer }),
      ...(lagRecords !== undefined && { lag_records: lagRecords }),
      assigned_partitions: assignedPartitions,
    };
  };
  return serviceRoutes({
    name: 'trace-writer',
    version: VERSION,
    uptimeSec,
    reasons: HEALTH_REASONS,
    degradedBy: () => healthReasons(state()),
    details,
    readDetails,
  });
}
