/** The parts of a fault: `say` may leave the process, `log` may not. */
interface FaultDetails {
  readonly say: string;
  readonly log?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** An operating failure with a stable code. Recognise it by `code`, never by `instanceof`: under several realms (jest,
 *  worker threads) the same class exists more than once. Codes are snake_case and have a heading in docs/failure-modes.md. */
export class Fault extends Error {
  readonly code: string;
  readonly say: string;
  readonly log: Readonly<Record<string, unknown>>;

  constructor(code: string, details: FaultDetails) {
    super(details.say, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Fault';
    this.code = code;
    this.say = details.say;
    this.log = details.log ?? {};
  }
}

/** The fault's code, or a system error's (`EADDRINUSE`, `SQLITE_BUSY`), or '' for anything else. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** Whether `error` is a Fault, of any copy of the class. */
export function isFault(error: unknown): error is Fault {
  return typeof error === 'object' && error !== null && 'say' in error && typeof error.say === 'string' && codeOf(error) !== '';
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
