import { shutdownSteps } from '@vitrine/lifecycle/shutdown-steps';
import type { Logger } from '@vitrine/telemetry/logger';
import type { GatewayOverrides } from './app.ts';
import type { GatewayConfig } from './config.ts';
import { loadTelemetry } from './telemetry/load-telemetry.ts';
import { openTraceStore } from './recording/open-trace-store.ts';
import { privacyRules } from './proxy/privacy/pii-config.ts';

export interface Gateway extends AsyncDisposable {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
}

/** Starts a gateway. Disposal follows the specification's shutdown: requests in flight finish, the queue is written, spans are flushed,
 *  then metrics, each within 5 s. Faults: `storage_locked`, `storage_unusable`, `pepper_unusable`, `address_unusable`,
 *  `invalid_price_override`, `start_aborted`. */
export async function startGateway(config: GatewayConfig, logger: Logger, tools: GatewayOverrides = {}): Promise<Gateway> {
  await using opened = new AsyncDisposableStack();
  const stop = shutdownSteps(opened, logger);
  const startedAt = performance.now();
  const privacy = privacyRules(config.pii, config.tracing.capture_bodies);
  const { signal = new AbortController().signal } = tools;
  // The trace thread takes as long to start as all other modules take to load, so both run in parallel.
  const [traces, { startServer }] = await Promise.all([
    openTraceStore(config, privacy, logger, signal),
    import('./app.ts'),
    loadTelemetry(config.observability.otel),
  ]);
  // Closed before telemetry is flushed, or here if the start fails earlier.
  opened.use(traces);
  const url = await startServer({ privacy, traces, startedAt, opened, stop }, config, logger, tools);
  const running = opened.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
