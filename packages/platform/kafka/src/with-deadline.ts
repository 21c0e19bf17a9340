/** Rejects when `work` takes longer than `timeoutMs`; the work itself goes on, and its late failure is not an unhandled rejection. */
export async function withDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  work.catch(() => {});
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no result within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
