import { redactPath } from '@vitrine/privacy/scrub';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import type { RefusedMessage, CloseReason } from './client-connections.ts';

const INTERVAL_MS = 10_000;

const NEXT_STEPS: Readonly<Partial<Record<CloseReason, string>>> = {
  header_overflow: 'have the client send a request line and headers of 16 KiB at most, cookies and trace baggage among them',
  malformed_request:
    'look at what speaks to this port: it is no HTTP/1.1, or a proxy before it breaks it (TLS and HTTP/2 are not spoken here)',
  request_timeout: 'look at the network and at what opens connections and sends nothing: a head has 10 s',
  connect_method: 'set the base URL of the client to this server; it is no forward proxy',
};

/**
 * Logs requests that could not be parsed: the first of each reason at once, then the latest every ten seconds with the number of the
 * others.
 */
export class UnparsedLog implements Disposable {
  readonly #throttle: LogThrottle<RefusedMessage>;

  /** `redact`: redacts a path in addition to `redactPath`. */
  constructor(logger: Logger, redact: (path: string) => string) {
    this.#throttle = new LogThrottle(INTERVAL_MS, ({ reason, rejection, correlationId, remoteAddress, line }, count) =>
      logger.info(
        {
          reason,
          status: rejection.status,
          count,
          method: line?.method,
          path: line && redact(redactPath(line.target).text),
          remote_address: remoteAddress,
          correlation_id: correlationId,
          next_step: `${NEXT_STEPS[reason]} (docs/failure-modes.md#requests-that-are-no-http)`,
        },
        'requests could not be parsed',
      ),
    );
  }

  add(refused: RefusedMessage): void {
    this.#throttle.add(refused.reason, refused);
  }

  [Symbol.dispose](): void {
    this.#throttle[Symbol.dispose]();
  }
}
