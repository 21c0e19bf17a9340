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

/** Starts a gateway. Disposal is the specification's shutdown: requests in flight are finished, the queue is written out, spans are
 *  flushed, then metrics, each within 5 s. Faults: `storage_locked`, `storage_unusable`, `pepper_unusable`, `address_unusable`,
 *  `invalid_price_override`, `start_aborted`. */
export async function startGateway(config: GatewayConfig, logger: Logger, tools: GatewayOverrides = {}): Promise<Gateway> {
  await using opened = new AsyncDisposableStack();
  const stop = shutdownSteps(opened, logger);
  const startedAt = performance.now();
  const privacy = privacyRules(config.pii, config.tracing.capture_bodies);
  const { signal = new AbortController().signal } = tools;
  // The thread of the traces takes as long to start as the modules of everything else to load, so both are done at once.
  const [traces, { startServer }] = await Promise.all([
    openTraceStore(config, privacy, logger, signal),
    import('./app.ts'),
    loadTelemetry(config.observability.otel),
  ]);
  // Closed before telemetry is flushed, or here when the start fails before that.
  opened.use(traces);
  const url = await startServer({ privacy, traces, startedAt, opened, stop }, config, logger, tools);
  const running = opened.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
