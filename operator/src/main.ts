import { KubeConfig } from '@kubernetes/client-node';
import { command } from '@vitrine/command-line/command';
import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { versionCommand } from '@vitrine/command-line/version-command';
import { locateConfigFile, readConfigFile } from '@vitrine/config/config-file';
import { createLogger } from '@vitrine/telemetry/logger';
import { CUSTOM_RESOURCES, startOperator } from './app.ts';
import { OPERATOR_CONFIG_FILE, readOperatorConfig, VERSION } from './config.ts';
import { definitionsText } from './custom-resources/custom-resource-definition.ts';

const AFTER_BUG = 'report it with this line: it is a bug, and the process continues';
const AFTER_LOSS = 'nothing, when it restarts and leads or waits again: docs/failure-modes.md#leadership_lost';

const serve = command({
  name: 'serve',
  summary: 'Reconciles GatewayKeys and PlanLimits until it receives SIGINT or SIGTERM; the default command.',
  usage: '[--config FILE]',
  help: `Configuration is one YAML file (--config, else OPERATOR_CONFIG, else ./operator.yaml when it is there), then environment
variables: OPERATOR_ and the key's path in capitals. The cluster is that of KUBECONFIG, of ~/.kube/config, or the one that it runs in.

Example:
  OPERATOR_NAMESPACE=vitrine OPERATOR_STORAGE_DSN=postgresql://operator:...@postgres/vitrine \\
    OPERATOR_AUTH_PEPPER_PATH=gateway-keys.pepper npm run operator
`,
  options: {},
  run: async ({ values }, { env, stdout, handleUncaught, untilSignal }) => {
    const config = readOperatorConfig(readConfigFile(locateConfigFile(values.config, env, OPERATOR_CONFIG_FILE).path), env);
    const logger = createLogger('svc-operator', config.log.level, stdout);
    handleUncaught((error) => logger.error({ err: error, next_step: AFTER_BUG }, 'uncaught exception'));
    const signal = untilSignal();
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromDefault();
    await using operator = await startOperator({ config, kubeConfig, logger });
    logger.info({ url: operator.url, config }, 'operator is listening');
    const ended = await Promise.race([signal, operator.lost]);
    if (ended === undefined) logger.error({ next_step: AFTER_LOSS }, 'leadership lost');
    else logger.info({ signal: ended }, 'operator is shutting down');
    return ended === undefined ? 1 : 0;
  },
});

const crds = command({
  name: 'crds',
  summary: 'Prints the definitions of the custom resources, for clusters whose chart does not install them.',
  usage: '',
  help: `Example:
  npm run -s operator -- crds | kubectl apply --server-side -f -
`,
  options: {},
  run: async (_, { stdout }) => {
    stdout.write(definitionsText(CUSTOM_RESOURCES));
    return 0;
  },
});

const program = {
  name: 'operator',
  defaultCommand: serve.name,
  commands: [serve, crds, versionCommand('operator', VERSION, 'npm run operator')],
};
await runCommandLine(process, program, ({ say }) => say);
