import type { Fault } from '@vitrine/faults/fault';
import { handleUncaught } from '@vitrine/lifecycle/handle-uncaught';
import { runChild } from '@vitrine/lifecycle/run-child';
import { untilSignal } from '@vitrine/lifecycle/until-signal';
import { isatty } from 'node:tty';
import type { CommandLine } from './command.ts';
import { helpText } from './help-text.ts';
import { runCommand } from './run-command.ts';
import { runProgram } from './run-program.ts';

/**
 * Runs the command that the process was started with, and ends the process with its exit code. `messageOf`: the printed text of a fault.
 */
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
