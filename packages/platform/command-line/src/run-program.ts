import { errorChain } from '@vitrine/faults/error-chain';
import { codeOf, isFault, messageOf as textOf, type Fault } from '@vitrine/faults/fault';
import { isUsageError } from './usage-error.ts';

/**
 * How long a process may take to exit by itself after its program has ended. Without this limit an operation abandoned by shutdown, such
 * as a request to an unresponsive collector, would keep the process alive.
 */
const EXIT_WITHIN_MS = 500;

/** A program as `main.ts` describes it. */
interface Program {
  readonly name: string;
  readonly help: string;
  /** Returns the printed text of a fault; its `say` by default. */
  readonly messageOf?: (fault: Fault) => string;
  /** Resolves to the exit code. */
  readonly main: () => Promise<number>;
}

/**
 * Runs a program and ends the process with its exit code: the resolved value, 1 for a fault or for output that could not be written, 2
 * for wrong arguments, with the program's help.
 */
export async function runProgram(
  process: NodeJS.Process,
  { name, help, messageOf = ({ say }) => say, main }: Program,
): Promise<void> {
  const output = watchOutputs(process);
  try {
    process.exitCode = (await main()) || Number(output.isLost);
  } catch (error) {
    const isUsage = isUsageError(error);
    const message = isFault(error) ? messageOf(error) : isUsage ? textOf(error) : errorChain(error);
    process.stderr.write(`${name}: ${message}\n${isUsage ? `\n${help}` : ''}`);
    process.exitCode = isUsage ? 2 : 1;
  }
  setTimeout(() => process.exit(), EXIT_WITHIN_MS).unref();
}

/**
 * The reader of our output may close its pipe, or the disk may be full. Only the exit code can report it. Printing an error would fail
 * too, and in a server that survives uncaught exceptions it would loop forever.
 */
function watchOutputs(process: NodeJS.Process): { isLost: boolean } {
  const output = { isLost: false };
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      // A reader that closes its pipe has read enough.
      if (codeOf(error) === 'EPIPE') return;
      output.isLost = true;
      process.exitCode ||= 1;
    });
  }
  return output;
}
