import { runShutdownStep } from './shutdown-step.ts';

const NEXT_STEP = 'see docs/failure-modes.md#a-shutdown-step-that-fails';

/** What writes the line of a step that failed. */
interface StepLog {
  error(fields: object, message: string): void;
}

/** Defers steps of a service's shutdown on its stack: each has its time limit, and one that fails is logged and keeps no other from
 *  running. */
export function shutdownSteps(opened: AsyncDisposableStack, log: StepLog): (name: string, step: () => Promise<unknown>) => void {
  const report: Parameters<typeof runShutdownStep>[2] = ({ error: err, ...step }) =>
    log.error({ ...step, err, next_step: NEXT_STEP }, 'shutdown step failed');
  return (name, step) => opened.defer(async () => void (await runShutdownStep(name, step, report)));
}
