import { redactPath } from '@vitrine/privacy/scrub';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import type { RefusedMessage, CloseReason } from './client-connections.ts';

const INTERVAL_MS = 10_000;

const NEXT_STEPS: Readonly<Partial<Record<CloseReason, string>>> = {
  header_overflow: 'have the client send a request line and headers of 16 KiB at most, cookies and trace baggage among them',
  malformed_request:
    'identify the client: it does not send HTTP/1.1, or a proxy corrupts its requests (TLS and HTTP/2 are not supported here)',
  request_timeout: 'check the network, and clients that open connections and send nothing: a head must arrive within 10 s',
  connect_method: 'set the base URL of the client to this server; it is not a forward proxy',
};

/** Logs requests that could not be parsed: of each reason the first at once, then every ten seconds the latest with their number. `redact`: redacts a
 *  path beyond what `redactPath` does. */
export function unparsedLog(
  logger: Logger,
  redact: (path: string) => string,
): Disposable & { readonly add: (refused: RefusedMessage) => void } {
  const write = ({ reason, rejection, correlationId, remoteAddress, line }: RefusedMessage, count: number) =>
    logger.info(
      {
        reason,
        status: rejection.status,
        count,
        method: line?.method,
        path: line && redact(redactPath(line.target).text),
        remote_address: remoteAddress,
        correlation_id: correlationId,
        next_step: `${NEXT_STEPS[reason]} (docs/failure-modes.md#requests-that-are-not-http)`,
      },
      'requests could not be parsed',
    );
  const throttle = new LogThrottle(INTERVAL_MS, write);
  return {
    add: (refused) => throttle.add(refused.reason, refused),
    [Symbol.dispose]: () => throttle[Symbol.dispose](),
  };
}
