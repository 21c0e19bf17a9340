/** The time limit of one shutdown step. Spec: G19.2. */
const SHUTDOWN_STEP_TIMEOUT_MS = 5_000;

/** Runs one step of a shutdown within its time limit. A step that fails or times out is reported and skipped, so that later steps still
 *  run and the process still ends. Resolves to whether the step succeeded in time. */
export async function runShutdownStep(
  name: string,
  step: () => Promise<unknown>,
  report: (details: { step: string; error?: unknown; timeout_ms?: number }) => void,
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
