import { codeOf, isFault, messageOf, type Fault } from '@vitrine/faults/fault';

/** How long a program that is done may take to end by itself. What a shutdown has given up, such as a request to a collector that
 *  does not answer, would keep the process alive for as long as it likes. */
const END_WITHIN_MS = 500;

/** A program as `main.ts` describes it. */
export interface Program {
  readonly name: string;
  readonly help: string;
  /** What to tell people of a fault; its `say` when absent. */
  readonly sentenceOf?: (fault: Fault) => string;
  /** Resolves to the exit code. */
  readonly main: () => Promise<number>;
}

/** Runs a program and ends the process with its exit code: what it resolved to, 1 for a fault or for output that could not be written, 2 for
 *  arguments it does not know (with its help). */
export async function runProgram(
  process: NodeJS.Process,
  { name, help, sentenceOf = ({ say }) => say, main }: Program,
): Promise<void> {
  const output = endureClosedOutputs(process);
  try {
    process.exitCode = (await main()) || Number(output.isLost);
  } catch (error) {
    const isUsage = codeOf(error).startsWith('ERR_PARSE_ARGS') || codeOf(error) === 'unknown_command';
    const sentence = isFault(error) ? sentenceOf(error) : isUsage ? messageOf(error) : String(error);
    process.stderr.write(`${name}: ${sentence}\n${isUsage ? `\n${help}` : ''}`);
    process.exitCode = isUsage ? 2 : 1;
  }
  setTimeout(() => process.exit(), END_WITHIN_MS).unref();
}

/** Whoever read what we print may leave, or the disk behind it be full. Only the exit code can tell: printing that it failed would fail
 *  too, and for a server that outlives its bugs be one more bug, for ever. */
function endureClosedOutputs(process: NodeJS.Process): { isLost: boolean } {
  const output = { isLost: false };
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      // Whoever closes a pipe has read enough.
      if (codeOf(error) === 'EPIPE') return;
      output.isLost = true;
      process.exitCode ||= 1;
    });
  }
  return output;
}

/** Keeps a serving process alive through a bug of ours: the request it happened in is lost, the others are not. */
export function handleUncaught(process: NodeJS.Process, report: (error: unknown) => void): void {
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
}
