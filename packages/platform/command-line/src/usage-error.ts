import { codeOf } from '@vitrine/faults/fault';

/** Wrong arguments: the help text is shown, and the exit code is 2. */
export function usageError(message: string): Error {
  return Object.assign(new TypeError(message), { code: 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' });
}

/** Whether an error is from `usageError`, from `parseArgs` of node, or the fault `unknown_command`. */
export function isUsageError(error: unknown): boolean {
  return codeOf(error).startsWith('ERR_PARSE_ARGS') || codeOf(error) === 'unknown_command';
}
