import { codeOf, messageOf } from '@vitrine/faults/fault';

const MESSAGE_MAX_LENGTH = 300;
const STACK_MAX_LENGTH = 2_000;

/** The error behind a failed write: plain data, because it is passed between threads. */
export interface WriteError {
  /** Such as `Error`. */
  readonly name: string;
  readonly message: string;
  /** Such as `SQLITE_FULL`, or a fault's; '' when it has none. */
  readonly code: string;
  /** SQLite's extended result code. */
  readonly errcode?: number;
  /** The stack. Present only if the store did not report the error, which makes it an internal bug. */
  readonly stack?: string;
}

/** An error as plain data, its texts cut. */
export function writeErrorOf(error: unknown): WriteError {
  const message = messageOf(error).slice(0, MESSAGE_MAX_LENGTH);
  const name = textOf(error, 'name') ?? typeof error;
  const stack = textOf(error, 'stack')?.slice(0, STACK_MAX_LENGTH);
  return { name, message, code: codeOf(error), ...(stack === undefined ? {} : { stack }) };
}

function textOf(error: unknown, field: 'name' | 'stack'): string | undefined {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, field) : undefined;
  return typeof value === 'string' ? value : undefined;
}
