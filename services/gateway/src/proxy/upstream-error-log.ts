import type { Logger } from '@vitrine/telemetry/logger';
import type { Provider } from '@vitrine/traces/trace';
import type { UpstreamErrorClass } from '@vitrine/traces/upstream-error';
import type { RequestTelemetry } from '../observability/request-telemetry.ts';
import { nextStepOf, type ExchangeFailure } from './exchange-failure.ts';

/** Between two lines of one class. Spec: gateway decisions, section 5. */
const INTERVAL_MS = 1_000;

/** A failure of an exchange, and which exchange it was. */
export interface FailedExchange {
  readonly failure: ExchangeFailure;
  readonly provider: Provider;
  readonly status: number;
  readonly correlationId: string;
  readonly telemetry: RequestTelemetry | undefined;
}

/** Runs `work` after so many milliseconds; gives back how to call that off. */
export type Schedule = (work: () => void, ms: number) => () => void;

interface Recent {
  quietUntil: number;
  /** Not logged yet, by provider. */
  suppressed: Map<Provider, number>;
  last: FailedExchange | undefined;
  cancel: (() => void) | undefined;
}

/** Logs upstream failures: of each class the first at once, then one line a second at most, which says how many had none. What is left over
 *  is logged when the second has passed, so that no failure goes uncounted. */
export class UpstreamErrorLog implements Disposable {
  readonly #logger: Logger;
  readonly #clock: () => number;
  readonly #schedule: Schedule;
  readonly #recent = new Map<UpstreamErrorClass, Recent>();

  /** `clock`: milliseconds that only go forward. */
  constructor(logger: Logger, clock: () => number, schedule: Schedule = scheduleUnref) {
    this.#logger = logger;
    this.#clock = clock;
    this.#schedule = schedule;
  }

  report(failed: FailedExchange): void {
    const { upstreamError } = failed.failure;
    if (upstreamError === undefined) return;
    const recent = this.#recentOf(upstreamError);
    const wait = recent.quietUntil - this.#clock();
    if (wait <= 0) return this.#write(upstreamError, recent, failed);
    recent.suppressed.set(failed.provider, (recent.suppressed.get(failed.provider) ?? 0) + 1);
    recent.last = failed;
    recent.cancel ??= this.#schedule(() => this.#writeLast(upstreamError, recent), wait);
  }

  /** Logs what is left over. */
  [Symbol.dispose](): void {
    for (const [upstreamError, recent] of this.#recent) {
      recent.cancel?.();
      this.#flush(upstreamError, recent);
    }
  }

  #recentOf(upstreamError: UpstreamErrorClass): Recent {
    const known = this.#recent.get(upstreamError);
    if (known !== undefined) return known;
    const recent: Recent = { quietUntil: -Infinity, suppressed: new Map(), last: undefined, cancel: undefined };
    this.#recent.set(upstreamError, recent);
    return recent;
  }

  /** Timers may be early by a part of a millisecond. */
  #writeLast(upstreamError: UpstreamErrorClass, recent: Recent): void {
    const wait = recent.quietUntil - this.#clock();
    if (wait > 0) recent.cancel = this.#schedule(() => this.#writeLast(upstreamError, recent), wait);
    else this.#flush(upstreamError, recent);
  }

  /** The last of those without a line gets one. */
  #flush(upstreamError: UpstreamErrorClass, recent: Recent): void {
    recent.cancel = undefined;
    const { last, suppressed } = recent;
    if (last === undefined) return;
    suppressed.set(last.provider, (suppressed.get(last.provider) ?? 1) - 1);
    this.#write(upstreamError, recent, last);
  }

  #write(upstreamError: UpstreamErrorClass, recent: Recent, failed: FailedExchange): void {
    recent.cancel?.();
    recent.cancel = undefined;
    const suppressed = Object.fromEntries([...recent.suppressed].filter(([, count]) => count > 0));
    recent.suppressed = new Map();
    recent.last = undefined;
    const { provider, status, correlationId, telemetry, failure } = failed;
    const fields = {
      provider,
      upstream_error: upstreamError,
      upstream_error_detail: failure.detail,
      status,
      correlation_id: correlationId,
      suppressed,
      next_step: nextStepOf(upstreamError),
      ...(failure.cause === undefined ? {} : { err: failure.cause }),
    };
    const log = () => this.#logger.warn(fields, 'upstream request failed');
    if (telemetry === undefined) log();
    else telemetry.run(log);
    // After the line, so that its own time is not part of the second.
    recent.quietUntil = this.#clock() + INTERVAL_MS;
  }
}

/** Keeps no process alive: disposal logs what is left over. */
function scheduleUnref(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, Math.ceil(ms)).unref();
  return () => clearTimeout(timer);
}
