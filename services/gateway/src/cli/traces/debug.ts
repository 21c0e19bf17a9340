import { chainText } from '../debug-chain/chain-text.ts';
import type { ChainSelection } from '../debug-chain/debug-chain.ts';
import { readChain } from '../debug-chain/read-chain.ts';
import { writeBundle } from '../debug-chain/write-bundle.ts';
import { command, stringOption, switchOption, type Command, usageError } from '@vitrine/command-line/command';
import { formatOption, printResult } from '@vitrine/command-line/print-result';
import { wholeNumberOption } from '@vitrine/command-line/option-values';
import { commandConfig, CONFIG_OPTION } from '../config/command-config.ts';
import { openTraces } from '../offline-traces/open-traces.ts';
import { tenantFilterOf, tenantOptions } from '../query-options.ts';

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 500;

const SELECTION = {
  'trace-id': stringOption('ID', 'the conversation of this trace, with the checkpoints that its run was forked from'),
  'trace-group-id': stringOption('ID', 'all checkpoints of this group'),
  'thread-id': stringOption('ID', 'all checkpoints of this thread'),
  'run-id': stringOption('ID', 'all checkpoints of this run'),
} as const;

const OPTIONS = {
  ...tenantOptions('traces'),
  limit: stringOption('N', `number of checkpoints at most, 1 to ${MAX_LIMIT}; ${DEFAULT_LIMIT}`),
  diff: switchOption('changes from each checkpoint to the next, without content'),
  'include-headers': switchOption('also show headers'),
  'include-bodies': switchOption('also show bodies, where the gateway has stored them'),
  'bundle-out': stringOption('DIR', 'also write debug-chain.json and manifest.json into this folder'),
  format: formatOption('for programs: debug-chain.v1'),
  ...CONFIG_OPTION,
} as const;

const HELP = `A gateway may be running. Credentials are never shown. Only traces of one tenant are shown: the tenant of the selected trace. When
several tenants have a group, thread or run with this id, --org-id and --workspace-id have to select one.`;

const EXAMPLES = [
  'debug last',
  'debug --thread-id thread-1 --diff',
  'debug last --org-id acme --workspace-id search',
  'debug --trace-id 0190d3b8c0007abc8def0123456789ab --format json',
  'debug --run-id run-7 --diff --include-bodies --bundle-out ./bundle',
];

/** Group, thread and run can be combined; a trace is in one of each already. */
export const debug = debugCommand({
  name: 'debug',
  summary: 'Shows the conversation that a trace belongs to, step by step.',
  options: { ...SELECTION, ...OPTIONS },
  help: `Without an id, and as debug last, it shows the newest trace. --trace-id excludes the other ids.\n\n${HELP}`,
});

export const debugLast = debugCommand({
  name: 'debug last',
  summary: 'Shows the conversation that the newest trace belongs to.',
  options: OPTIONS,
  help: HELP,
});

function debugCommand(of: Pick<Command<typeof OPTIONS>, 'name' | 'summary' | 'options' | 'help'>): Command {
  return command({
    ...of,
    examples: EXAMPLES,
    run: async ({ values }, context) => {
      const selection = selectionOf(values);
      const options = {
        limit: wholeNumberOption('--limit', values.limit, 1, MAX_LIMIT) ?? DEFAULT_LIMIT,
        include_diff: values.diff ?? false,
        include_headers: values['include-headers'] ?? false,
        include_bodies: values['include-bodies'] ?? false,
        ...tenantFilterOf(values),
      };
      await using store = await openTraces(commandConfig(values.config, context));
      const chain = await readChain(store, selection, options, new Date());
      const folder = values['bundle-out'];
      if (folder !== undefined) writeBundle(folder, chain);
      printResult(context, values.format, chain, chainText);
      if (folder !== undefined) context.stderr.write(`The bundle is in ${folder}\n`);
      return 0;
    },
  });
}

function selectionOf(values: Readonly<Record<string, unknown>>): ChainSelection {
  const named = Object.keys(SELECTION).filter((option) => values[option] !== undefined);
  const [first, second] = named;
  if (first === 'trace-id' && second !== undefined)
    throw usageError(`--trace-id and --${second} exclude each other: leave one of them out`);
  return Object.fromEntries(named.map((option) => [option.replaceAll('-', '_'), values[option]])) as ChainSelection;
}
