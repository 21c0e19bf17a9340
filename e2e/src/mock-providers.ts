import { join } from 'node:path';
import { startService, type RunningService, type ServiceOptions } from './environment.ts';
import { IMAGES } from './images.ts';
import { ROOT } from './running-process.ts';

const PORTS = { openai: 8081, anthropic: 8082 };
const ALIAS = 'provider';
const SCRIPT = `
  const mocks = [['openai', 'startMockOpenai', ${PORTS.openai}], ['anthropic', 'startMockAnthropic', ${PORTS.anthropic}]];
  for (const [name, start, port] of mocks) {
    const file = '/testkit/src/mock-' + name + '.ts';
    await (await import(file))[start]({ host: '0.0.0.0', port });
  }`;

/** Where containers of the network reach the mock providers, as variables of a gateway. */
export const MOCK_UPSTREAMS = {
  SVC_PROVIDERS_OPENAI_UPSTREAM: `http://${ALIAS}:${PORTS.openai}`,
  SVC_PROVIDERS_ANTHROPIC_UPSTREAM: `http://${ALIAS}:${PORTS.anthropic}`,
};

/** Runs the mock providers of testkit, which need nothing but Node, in one container. */
export function startMockProviders(network: NonNullable<ServiceOptions['network']>): Promise<RunningService> {
  return startService({
    image: IMAGES.node,
    command: ['--input-type=module', '-e', SCRIPT],
    folder: { source: join(ROOT, 'packages/testkit'), target: '/testkit' },
    port: PORTS.anthropic,
    network,
    alias: ALIAS,
  });
}
