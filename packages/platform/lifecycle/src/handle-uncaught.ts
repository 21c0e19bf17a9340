/** Keeps a server alive after an uncaught exception: only the affected request is lost. */
export function handleUncaught(process: NodeJS.Process, report: (error: unknown) => void): void {
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
}
