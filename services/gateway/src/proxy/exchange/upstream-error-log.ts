import { LogThrottle, type ThrottleTiming } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import type { Provider } from '@vitrine/traces/trace';
import type { UpstreamErrorClass } from '@vitrine/traces/upstream-error';
import type { RequestTelemetry } from '../../telemetry/request-telemetry.ts';
import { nextStepOf, type ExchangeFailure } from './exchange-failure.ts';

/** Between two lines of one class. Spec: G11.16. */
const INTERVAL_MS = 1_000;

/** A failure and its exchange. */
export interface FailedExchange {
  readonly failure: ExchangeFailure;
  readonly provider: Provider;
  readonly status: number;
  readonly correlationId: string;
  readonly telemetry: RequestTelemetry | undefined;
}

interface UpstreamFailure extends FailedExchange {
  readonly upstreamError: UpstreamErrorClass;
}

/** Logs upstream failures: for each class the first at once, then at most one line a second with the number of unlogged failures by provider. The
 *  rest is logged when the second has passed, so that no failure goes uncounted. */
export class UpstreamErrorLog implements Disposable {
  readonly #logger: Logger;
  readonly #throttle: LogThrottle<UpstreamFailure>;
  /** Failures since the last line of their class, by provider. */
  readonly #counts = new Map<UpstreamErrorClass, Map<Provider, number>>();

  /** `clock`: milliseconds, monotonic. */
  constructor(logger: Logger, clock: ThrottleTiming['clock'], schedule?: ThrottleTiming['schedule']) {
    this.#logger = logger;
    const timing = schedule === undefined ? { clock } : { clock, schedule };
    this.#throttle = new LogThrottle(INTERVAL_MS, (failed) => this.#write(failed), timing);
  }

  report(failed: FailedExchange): void {
    const { upstreamError } = failed.failure;
    if (upstreamError === undefined) return;
    const counts = this.#counts.get(upstreamError) ?? new Map<Provider, number>();
    counts.set(failed.provider, (counts.get(failed.provider) ?? 0) + 1);
    this.#counts.set(upstreamError, counts);
    this.#throttle.add(upstreamError, { ...failed, upstreamError });
  }

  /** Logs the remaining failures. */
  [Symbol.dispose](): void {
    this.#throttle[Symbol.dispose]();
  }

  #write({ provider, status, correlationId, telemetry, upstreamError, failure: { detail, cause } }: UpstreamFailure): void {
    const fields = {
      provider,
      upstream_error: upstreamError,
      upstream_error_detail: detail,
      status,
      correlation_id: correlationId,
      suppressed: this.#takeSuppressed(upstreamError, provider),
      next_step: nextStepOf(upstreamError),
      ...(cause === undefined ? {} : { err: cause }),
    };
    const log = () => this.#logger.warn(fields, 'upstream request failed');
    if (telemetry === undefined) log();
    else telemetry.run(log);
  }

  /** All failures of the class since its last line, except the one of `provider` that gets the line now. */
  #takeSuppressed(upstreamError: UpstreamErrorClass, logged: Provider): Record<string, number> {
    const counts = this.#counts.get(upstreamError) ?? new Map<Provider, number>();
    this.#counts.delete(upstreamError);
    const suppressed = [...counts].map(([provider, count]) => [provider, provider === logged ? count - 1 : count] as const);
    return Object.fromEntries(suppressed.filter(([, count]) => count > 0));
  }
}
