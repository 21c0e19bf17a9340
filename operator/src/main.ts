import { KubeConfig } from '@kubernetes/client-node';
import { command } from '@vitrine/command-line/command';
import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { serveCommand, versionCommand } from '@vitrine/command-line/serve-command';
import { startOperator } from './app.ts';
import { OPERATOR_CONFIG_FILE, readOperatorConfig, VERSION } from './config.ts';
import { CUSTOM_RESOURCES } from './custom-resources.ts';
import { definitionsText } from './custom-resources/custom-resource-definition.ts';

const serve = serveCommand({
  title: 'operator',
  service: 'svc-operator',
  summary: 'Reconciles GatewayKeys and PlanLimits until it receives SIGINT or SIGTERM; the default command.',
  help: 'The cluster is that of KUBECONFIG, of ~/.kube/config, or the one that it runs in.',
  example: `OPERATOR_NAMESPACE=vitrine OPERATOR_STORAGE_DSN=postgresql://operator:...@postgres/vitrine \\
    OPERATOR_AUTH_PEPPER_PATH=gateway-keys.pepper npm run operator`,
  configFile: OPERATOR_CONFIG_FILE,
  readConfig: readOperatorConfig,
  start: (config, logger) => {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromDefault();
    return startOperator({ config, kubeConfig, logger });
  },
});

const crds = command({
  name: 'crds',
  summary: 'Prints the definitions of the custom resources, for clusters whose chart does not install them.',
  examples: ['npm run -s operator -- crds | kubectl apply --server-side -f -'],
  options: {},
  run: async (_, { stdout }) => {
    stdout.write(definitionsText(CUSTOM_RESOURCES));
    return 0;
  },
});

const program = {
  name: 'operator',
  defaultCommand: serve.name,
  commands: [serve, crds, versionCommand('operator', VERSION)],
};
await runCommandLine(process, program, ({ say }) => say);
