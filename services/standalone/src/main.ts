import { command, stringOption, switchOption } from '@vitrine/command-line/command';
import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { versionCommand } from '@vitrine/command-line/serve-command';
import { locateConfigFile, readConfigFile } from '@vitrine/config/config-file';
import type { Fault } from '@vitrine/faults/fault';
import { GATEWAY_CONFIG_FILE } from '@vitrine/gateway/config';
import { VERSION } from '@vitrine/gateway/telemetry/observability-config';
import { createLogger } from '@vitrine/telemetry/logger';
import { freeWorkerSemiSpaces } from '@vitrine/lifecycle/heap-flags';
import { scrub } from '@vitrine/privacy/scrub';
import { inspect } from 'node:util';
import { startStandalone } from './app.ts';
import { storesWelcome, welcome } from './welcome.ts';

const start = command({
  name: 'start',
  summary:
    'Runs Vitrine: the gateway on SVC_SERVER_PORT (8080), the store API on STORE_API_SERVER_PORT (8081), the scanner, data in VITRINE_DATA_DIR (./data).',
  options: {
    demo: switchOption(
      'also start mock providers, point the gateway at them and capture bodies: no account is needed;\n' +
        'and fixture storefronts that change while the scanner looks at them',
    ),
    config: stringOption('FILE', 'gateway configuration (YAML); otherwise SVC_CONFIG, else ./vitrine.yaml if it exists'),
  },
  help: `Environment:
  SVC_SERVER_PORT=8080      port of the gateway; every gateway key has such a variable
  STORE_API_SERVER_PORT=8081   port of the store API; every key of its configuration has such a variable
  SCAN_SERVER_PORT=0        port of the scanner's probes and metrics, on 127.0.0.1; 0: any free one. Every key has such a variable
  VITRINE_STORES_ENABLED=true  false: the gateway alone
  VITRINE_DATA_DIR=./data   where traces and stores are kept`,
  examples: ['npm start', 'npm start -- --demo'],
  run: async ({ values: { config, demo = false } }, { env, stdout, stderr, untilSignal, handleUncaught }) => {
    const signal = untilSignal();
    await using standalone = await startStandalone({
      env,
      yaml: readConfigFile(locateConfigFile(config, env, GATEWAY_CONFIG_FILE).path),
      demo,
      print: (text) => stdout.write(text),
      createLogger: (service, level) => createLogger(service, level, stderr),
    });
    handleUncaught((error) => stderr.write(`vitrine: uncaught exception: ${scrub(inspect(error)).text}\n`));
    stdout.write(welcome(standalone.gatewayUrl, demo, standalone.keyHeader));
    const stores = standalone.stores?.then((ready) => {
      stdout.write(storesWelcome(ready));
      return ready;
    });
    // If the database does not start, or ends, the process ends with its reason.
    await Promise.race([signal, stores?.then(({ untilEnd }) => untilEnd) ?? signal]);
    stdout.write('\nVitrine is stopping: requests under way are finished and traces are written.\n');
    return 0;
  },
});

function messageOf({ code, say }: Fault): string {
  const message = scrub(say).text;
  if (code === 'stores_unusable')
    return `${message}\nSet VITRINE_DATA_DIR to a folder that it can use, or VITRINE_STORES_ENABLED=false to run the gateway alone.`;
  if (!code.startsWith('storage_')) return message;
  const other = code === 'storage_locked' ? ', or stop the process that uses this one' : '';
  return `${message}\nSet VITRINE_DATA_DIR (or SVC_STORAGE_PATH) to another place${other}.`;
}

const program = {
  name: 'vitrine',
  defaultCommand: start.name,
  commands: [start, versionCommand('vitrine', VERSION, 'npm start')],
};
freeWorkerSemiSpaces();
await runCommandLine(process, program, messageOf);
