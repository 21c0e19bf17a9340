import { startGateway } from '@vitrine/gateway/start-gateway';
import { oldSettingsIn, warnOfOldSettings } from '@vitrine/gateway/config/old-settings';
import type { Logger } from '@vitrine/telemetry/logger';
import { startMockAnthropic } from '@vitrine/testkit/mock-anthropic';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { join } from 'node:path';
import { readAllConfig } from './config.ts';
import type { StoresReady } from './stores/start-stores.ts';

/** Delay between two chunks of a demonstration stream, slow enough to watch. */
const DEMO_CHUNK_DELAY_MS = 60;

interface Standalone extends AsyncDisposable {
  readonly gatewayUrl: string;
  /** The header of the required key; undefined when no key is required. */
  readonly keyHeader: string | undefined;
  /** Resolves when the database of the store API is ready; undefined when the store API is switched off. Faults: `stores_unusable`. */
  readonly stores: Promise<StoresReady> | undefined;
}

interface StandaloneOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly yaml: { readonly path: string; readonly text: string } | undefined;
  readonly demo: boolean;
  readonly createLogger: (service: string, level: string) => Logger;
  /** Prints lines of the demonstration. */
  readonly print: (text: string) => void;
}

/** Runs everything in one process on embedded stores. With `demo`, mock providers stand in for OpenAI and Anthropic, bodies
 *  are captured, and the stores are fixture storefronts that change. Faults: those of `startGateway`, and `invalid_config`. */
export async function startStandalone(options: StandaloneOptions): Promise<Standalone> {
  const { env, yaml, demo, createLogger, print } = options;
  await using opened = new AsyncDisposableStack();
  const variables: Record<string, string | undefined> = { ...env };
  if (demo) {
    const openai = opened.use(await startMockOpenai({ chunkDelayMs: DEMO_CHUNK_DELAY_MS }));
    const anthropic = opened.use(await startMockAnthropic({ chunkDelayMs: DEMO_CHUNK_DELAY_MS }));
    variables['SVC_PROVIDERS_OPENAI_UPSTREAM'] = openai.url;
    variables['SVC_PROVIDERS_ANTHROPIC_UPSTREAM'] = anthropic.url;
    variables['SVC_TRACING_CAPTURE_BODIES'] = 'true';
  }
  const { gateway: gatewayConfig, standalone } = readAllConfig(yaml, variables);
  const logger = createLogger('svc-gateway', gatewayConfig.log.level);
  warnOfOldSettings(oldSettingsIn(env, yaml !== undefined), logger);
  const gateway = opened.use(await startGateway(gatewayConfig, logger));
  const openStores = async () => {
    const { startStores } = await import('./stores/start-stores.ts');
    // Observations of fixtures must not be mixed with observations of the internet.
    const folder = join(standalone.data.dir, demo ? 'demo-stores' : 'stores');
    return startStores({ folder, env: variables, createLogger, printDemo: demo ? print : undefined });
  };
  // Starts after the gateway, because loading it takes CPU that would delay the start of the gateway.
  const stores = standalone.stores.enabled ? opened.use(await openStores()) : undefined;
  const running = opened.move();
  const { auth } = gatewayConfig;
  const keyHeader = auth.enabled ? auth.header : undefined;
  return { gatewayUrl: gateway.url, keyHeader, stores: stores?.ready, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
