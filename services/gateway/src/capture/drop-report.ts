import type { Logger } from '@vitrine/telemetry/logger';
import type { WriteError } from '@vitrine/traces/write-error';
import type { WriteFailure } from '@vitrine/traces/write-failure';
import { nextStepAfter } from './next-step.ts';

/** Traces that were dropped: the queue was full, or the store did not take them. */
export type Drop = { readonly where: 'enqueue'; readonly count: number } | ({ readonly where: 'write' } & WriteFailure);

/** After a line of the log, drops of the same kind are added up for so long, so that an outage does not flood it. */
const QUIET_MS = 10_000;

interface Quiet {
  /** What was dropped since the last line, with the latest error; undefined: nothing. */
  unlogged: Drop | undefined;
  readonly timer: NodeJS.Timeout;
}

/** Logs dropped traces with class, cause and next step: of each place, operation and class the first at once, then what came together every
 *  ten seconds, and on disposal what is left. Every dropped trace is in exactly one line. */
export class DropReport implements Disposable {
  readonly #logger: Logger;
  readonly #quietMs: number;
  /** At most one for the queue, and one for each operation and class. */
  readonly #quiet = new Map<string, Quiet>();

  constructor(logger: Logger, quietMs: number = QUIET_MS) {
    this.#logger = logger;
    this.#quietMs = quietMs;
  }

  dropped(drop: Drop): void {
    const key = drop.where === 'enqueue' ? 'enqueue' : `${drop.operation} ${drop.error_class}`;
    const quiet = this.#quiet.get(key);
    if (quiet === undefined) {
      this.#log(drop);
      this.#beQuiet(key);
    } else {
      quiet.unlogged = { ...drop, count: drop.count + (quiet.unlogged?.count ?? 0) };
    }
  }

  [Symbol.dispose](): void {
    for (const { timer, unlogged } of this.#quiet.values()) {
      clearTimeout(timer);
      if (unlogged !== undefined) this.#log(unlogged);
    }
    this.#quiet.clear();
  }

  #beQuiet(key: string): void {
    const timer = setTimeout(() => this.#endQuiet(key), this.#quietMs).unref();
    this.#quiet.set(key, { unlogged: undefined, timer });
  }

  #endQuiet(key: string): void {
    const unlogged = this.#quiet.get(key)?.unlogged;
    this.#quiet.delete(key);
    if (unlogged === undefined) return;
    this.#log(unlogged);
    this.#beQuiet(key);
  }

  #log(drop: Drop): void {
    const next_step = nextStepAfter(drop);
    if (drop.where === 'enqueue') this.#logger.error({ ...drop, next_step }, 'traces were dropped');
    else this.#logger.error({ ...drop, error: undefined, err: loggedError(drop.error), next_step }, 'traces were dropped');
  }
}

/** As the logger shows an error that was thrown here. */
function loggedError({ name, message, code, errcode, stack }: WriteError): Error {
  const fields = { name, ...(code === '' ? {} : { code }), ...(errcode === undefined ? {} : { errcode }) };
  return Object.assign(new Error(message), fields, { stack: stack ?? '' });
}
