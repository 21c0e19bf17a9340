/** The specification's budget of one shutdown step. Spec: gateway, Shutdown. */
const STOP_STEP_TIMEOUT_MS = 5_000;

/** Runs one step of a shutdown within its budget. A step that fails or is stuck is reported and passed: the steps after it
 *  still run, and the process still ends. Resolves to whether the step ended in time and well. */
export async function runShutdownStep(
  name: string,
  step: () => Promise<unknown>,
  report: (details: { step: string; error?: unknown; timeout_ms?: number }) => void,
  timeoutMs: number = STOP_STEP_TIMEOUT_MS,
): Promise<boolean> {
  const stuck = Symbol('stuck');
  const { promise: deadline, resolve } = Promise.withResolvers<typeof stuck>();
  const timer = setTimeout(() => resolve(stuck), timeoutMs);
  try {
    const ended = await Promise.race([step(), deadline]);
    if (ended === stuck) report({ step: name, timeout_ms: timeoutMs });
    return ended !== stuck;
  } catch (error) {
    report({ step: name, error });
    return false;
  } finally {
    clearTimeout(timer);
  }
}
