import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import type { StoreSummary } from '@vitrine/traces/trace-store';
import type { WriteError } from '@vitrine/traces/write-error';
import type { Drop } from './drop.ts';
import { nextStepAfter } from './next-step.ts';

/** After a log line, drops of the same kind are added up for this long, so that an outage does not flood the log. */
const QUIET_MS = 10_000;

/** Logs dropped traces with class, cause and next step: for each place, operation and class (11 at most) the first at once, then the sum every ten
 *  seconds, and the rest on disposal. Every dropped trace is in exactly one line. */
export class DropReport implements Disposable {
  readonly #logger: Logger;
  readonly #driver: StoreSummary['driver'];
  readonly #throttle = new LogThrottle<Drop>(QUIET_MS, (drop, count) => this.#log({ ...drop, count }));

  constructor(logger: Logger, driver: StoreSummary['driver']) {
    this.#logger = logger;
    this.#driver = driver;
  }

  dropped(drop: Drop): void {
    this.#throttle.add(drop.where === 'enqueue' ? 'enqueue' : `${drop.operation} ${drop.error_class}`, drop, drop.count);
  }

  [Symbol.dispose](): void {
    this.#throttle[Symbol.dispose]();
  }

  #log(drop: Drop): void {
    const next_step = nextStepAfter(drop, this.#driver);
    if (drop.where === 'enqueue') this.#logger.error({ ...drop, next_step }, 'traces dropped');
    else this.#logger.error({ ...drop, error: undefined, err: loggedError(drop.error), next_step }, 'traces dropped');
  }
}

/** An error in the format of the logger. */
function loggedError({ name, message, code, errcode, stack }: WriteError): Error {
  const fields = { name, ...(code === '' ? {} : { code }), ...(errcode === undefined ? {} : { errcode }) };
  return Object.assign(new Error(message), fields, { stack: stack ?? '' });
}
