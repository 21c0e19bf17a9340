/** Keeps a server alive after an uncaught exception: only the request that it happened in is lost. */
export function handleUncaught(process: NodeJS.Process, report: (error: unknown) => void): void {
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
}
