import { runProgram } from '@vitrine/command-line/run-program';
import { usageError } from '@vitrine/command-line/usage-error';
import { locateConfigFile, readConfigFile } from '@vitrine/config/config-file';
import type { Fault } from '@vitrine/faults/fault';
import { GATEWAY_CONFIG_FILE } from '@vitrine/gateway/config';
import { VERSION } from '@vitrine/gateway/version';
import { handleUncaught } from '@vitrine/lifecycle/handle-uncaught';
import { exposeMinorCollection } from '@vitrine/lifecycle/minor-collection';
import { untilSignal } from '@vitrine/lifecycle/until-signal';
import { createLogger } from '@vitrine/telemetry/logger';
import { scrub } from '@vitrine/privacy/scrub';
import { inspect, parseArgs } from 'node:util';
import { startStandalone } from './app.ts';
import { welcome } from './welcome.ts';

const HELP = `usage: npm start -- [--demo] [--config FILE] [--help] [--version]

Runs Vitrine in one process: the AI traffic gateway on port 8080 with its traces in one SQLite file below ./data.

  --demo         also start mock providers, point the gateway at them and capture bodies: no account is needed
  --config FILE  gateway configuration (YAML); otherwise SVC_CONFIG, else ./vitrine.yaml when it is there
  --help, -h     print this
  --version, -v  print the version

Environment:
  SVC_SERVER_PORT=8080      port of the gateway; every gateway key has such a variable
  VITRINE_DATA_DIR=./data   where traces are kept
`;

async function main(): Promise<number> {
  const { values, tokens } = parseArgs({
    tokens: true,
    options: {
      demo: { type: 'boolean', default: false },
      config: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
      version: { type: 'boolean', short: 'v', default: false },
    },
  });
  const configs = tokens.filter((token) => token.kind === 'option' && token.name === 'config');
  if (configs.length > 1) throw usageError('--config is given twice');
  if (values.config === '') throw usageError('--config must not be empty');
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (values.version) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const signal = untilSignal(process, ['SIGINT', 'SIGTERM']);
  await using standalone = await startStandalone({
    env: process.env,
    yaml: readConfigFile(locateConfigFile(values.config, process.env, GATEWAY_CONFIG_FILE).path),
    demo: values.demo,
    collectYoung: exposeMinorCollection(),
    createLogger: (service, level) => createLogger(service, level, process.stderr),
  });
  handleUncaught(process, (error) => process.stderr.write(`vitrine: uncaught exception: ${scrub(inspect(error)).text}\n`));
  process.stdout.write(welcome(standalone.gatewayUrl, values.demo, standalone.keyHeader));
  await signal;
  process.stdout.write('\nVitrine is stopping: requests under way are finished and traces are written.\n');
  return 0;
}

function messageOf({ code, say }: Fault): string {
  const message = scrub(say).text;
  if (!code.startsWith('storage_')) return message;
  const other = code === 'storage_locked' ? ', or stop the process that uses this one' : '';
  return `${message}\nSet VITRINE_DATA_DIR (or SVC_STORAGE_PATH) to another place${other}.`;
}

await runProgram(process, { name: 'vitrine', help: HELP, messageOf, main });
