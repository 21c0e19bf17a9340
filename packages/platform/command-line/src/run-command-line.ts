import { type Fault, codeOf, isFault, messageOf as textOf } from '@vitrine/faults/fault';
import { handleUncaught } from '@vitrine/lifecycle/handle-uncaught';
import { runChild } from '@vitrine/lifecycle/run-child';
import { untilSignal } from '@vitrine/lifecycle/until-signal';
import { isatty } from 'node:tty';
import { type CommandLine, isUsageError } from './command.ts';
import { helpText, runCommand } from './run-command.ts';
import { errorChain } from '@vitrine/faults/error-chain';

/** Runs the command that the process was started with, and ends the process with its exit code. `messageOf`: the printed text of a fault. */
export function runCommandLine(
  process: NodeJS.Process,
  program: CommandLine,
  messageOf: (fault: Fault) => string,
): Promise<void> {
  const { env, stdout, stderr, argv } = process;
  return runProgram(process, {
    name: program.name,
    help: helpText(program),
    messageOf,
    main: () =>
      runCommand(program, argv.slice(2), {
        env,
        stdout,
        stderr,
        untilSignal: () => untilSignal(process, ['SIGINT', 'SIGTERM']),
        handleUncaught: (report) => handleUncaught(process, report),
        runChild: (child) => runChild(process, child, isatty(0)),
      }),
  });
}

/** How long a process may take to exit by itself after its program has ended. An operation that shutdown has abandoned, such as a
 *  request to a collector that does not respond, would otherwise keep the process alive. */
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

/** Runs a program and ends the process with its exit code: what it resolved to, 1 for a fault or for output that could not be written,
 *  2 for wrong arguments, with the program's help. */
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

/** The reader of our output may close its pipe, or the disk behind it be full. Only the exit code can say so: printing an error would
 *  fail too, and in a server that survives uncaught exceptions cause the next one without end. */
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
