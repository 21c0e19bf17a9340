import { runProgram, handleUncaught } from '@vitrine/lifecycle/run-program';
import { runChild } from '@vitrine/lifecycle/run-child';
import { untilSignal } from '@vitrine/lifecycle/until-signal';
import type { Fault } from '@vitrine/faults/fault';
import { scrub } from '@vitrine/privacy/scrub';
import { isatty } from 'node:tty';
import { COMMANDS } from './commands/registry.ts';
import { helpOf, runCommand } from './commands/run-command.ts';

/** At a terminal nobody has a log to look into. */
function sentenceOf({ code, say, log }: Fault): string {
  const isKeyStore = code === 'key_store_unavailable';
  const sentence = isKeyStore ? `${say}: ${String(log['path'])}: ${String(log['reason'])}` : say;
  return scrub(code.startsWith('storage_') ? `storage.path (SVC_STORAGE_PATH): ${sentence}` : sentence).text;
}

await runProgram(process, {
  name: 'gateway',
  help: helpOf(COMMANDS),
  sentenceOf,
  main: () =>
    runCommand(COMMANDS, process.argv.slice(2), {
      env: process.env,
      stdout: process.stdout,
      stderr: process.stderr,
      untilStopped: () => untilSignal(process, ['SIGINT', 'SIGTERM']),
      surviveBugs: (report) => handleUncaught(process, report),
      runChild: (program) => runChild(process, program, isatty(0)),
    }),
});
