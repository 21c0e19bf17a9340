import type { CommandContext, CommandLine } from '../command.ts';
import { runCommand } from '../run-command.ts';

/** Runs a command in this process and collects its output. Faults are thrown. */
export async function runCaptured(
  program: CommandLine,
  args: readonly string[],
  context: Partial<Pick<CommandContext, 'env' | 'untilSignal'>> = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const output = { stdout: '', stderr: '' };
  const code = await runCommand(program, args, {
    env: {},
    stdout: { write: (text) => void (output.stdout += text) },
    stderr: { write: (text) => void (output.stderr += text) },
    untilSignal: async () => 'SIGTERM',
    handleUncaught: () => {},
    runChild: async () => ({ exitCode: 0 }),
    ...context,
  });
  return { code, ...output };
}
