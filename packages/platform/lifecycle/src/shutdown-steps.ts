const NEXT_STEP = 'see docs/failure-modes.md#a-shutdown-step-that-fails';

/** The time limit of one shutdown step. Spec: G19.2. */
const SHUTDOWN_STEP_TIMEOUT_MS = 5_000;

type ReportStep = (details: { step: string; error?: unknown; timeout_ms?: number }) => void;

/** Runs one step of a shutdown within its time limit. A step that fails or times out is reported and skipped, so that later steps still
 *  run and the process still ends. Resolves to whether the step succeeded in time. */
export async function runShutdownStep(
  name: string,
  step: () => Promise<unknown>,
  report: ReportStep,
  timeoutMs: number = SHUTDOWN_STEP_TIMEOUT_MS,
): Promise<boolean> {
  const timedOut = Symbol('timed out');
  const { promise: deadline, resolve } = Promise.withResolvers<typeof timedOut>();
  const timer = setTimeout(() => resolve(timedOut), timeoutMs);
  try {
    const isInTime = (await Promise.race([step(), deadline])) !== timedOut;
    if (!isInTime) report({ step: name, timeout_ms: timeoutMs });
    return isInTime;
  } catch (error) {
    report({ step: name, error });
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** Defers steps of a service's shutdown on its stack. Each has its time limit. A failed step is logged, and the others still run. */
export function shutdownSteps(
  opened: AsyncDisposableStack,
  log: { error(fields: object, message: string): void },
): (name: string, step: () => Promise<unknown>) => void {
  const report: ReportStep = ({ error: err, ...step }) =>
    log.error({ ...step, err, next_step: NEXT_STEP }, 'shutdown step failed');
  return (name, step) => opened.defer(async () => void (await runShutdownStep(name, step, report)));
}
