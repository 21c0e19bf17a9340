import { chainText } from '../debug-chain/chain-text.ts';
import type { ChainSelection } from '../debug-chain/debug-chain.ts';
import { readChain } from '../debug-chain/read-chain.ts';
import { writeBundle } from '../debug-chain/write-bundle.ts';
import { command, type Command } from '@vitrine/command-line/command';
import { usageError } from '@vitrine/command-line/usage-error';
import { commandConfig } from '../config/command-config.ts';
import { openTraces } from '../offline-traces/open-traces.ts';
import { FORMAT_OPTION, printResult } from '@vitrine/command-line/output-format';
import { TENANT_HELP, TENANT_OPTIONS, tenantFilterOf } from './tenant-options.ts';
import { wholeNumberOption } from '@vitrine/command-line/option-values';

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 500;

const SELECTION = {
  'trace-id': { type: 'string' },
  'trace-group-id': { type: 'string' },
  'thread-id': { type: 'string' },
  'run-id': { type: 'string' },
} as const;

const OPTIONS = {
  limit: { type: 'string' },
  diff: { type: 'boolean' },
  'bundle-out': { type: 'string' },
  'include-headers': { type: 'boolean' },
  'include-bodies': { type: 'boolean' },
  ...TENANT_OPTIONS,
  ...FORMAT_OPTION,
} as const;

const SELECTION_HELP = `  --trace-id ID        the conversation of this trace, with the checkpoints that its run was forked from
  --trace-group-id ID  all checkpoints of this group
  --thread-id ID       all checkpoints of this thread
  --run-id ID          all checkpoints of this run
`;

const HELP = `${TENANT_HELP}  --limit N            number of checkpoints at most, 1 to 500; 200
  --diff               changes from each checkpoint to the next, without content
  --include-headers    also show headers
  --include-bodies     also show bodies, where the gateway has stored them
  --bundle-out DIR     also write debug-chain.json and manifest.json into this folder
  --format json        for programs: debug-chain.v1
  --config FILE        the gateway's configuration

A gateway may be running. Credentials are never shown. Only traces of one tenant are shown: the tenant of the selected trace. When
several tenants have a group, thread or run with this id, --org-id and --workspace-id have to select one.

Examples:
  npm run gateway -- debug last
  npm run gateway -- debug --thread-id thread-1 --diff
  npm run gateway -- debug last --org-id acme --workspace-id search
  npm run gateway -- debug --trace-id 0190d3b8c0007abc8def0123456789ab --format json
  npm run gateway -- debug --run-id run-7 --diff --include-bodies --bundle-out ./bundle
`;

const USAGE =
  '[--org-id ID] [--workspace-id ID] [--limit N] [--diff] [--include-headers] [--include-bodies] [--bundle-out DIR] ' +
  '[--format text|json] [--config FILE]';

/** Group, thread and run can be combined; a trace is in one of each already. */
export const debug = debugCommand({
  name: 'debug',
  summary: 'Shows the conversation that a trace belongs to, step by step.',
  usage: `[--trace-id ID | [--trace-group-id ID] [--thread-id ID] [--run-id ID]] ${USAGE}`,
  help: `  last                 the newest trace; the same as no selection\n${SELECTION_HELP}${HELP}`,
  options: { ...SELECTION, ...OPTIONS },
});

export const debugLast = debugCommand({
  name: 'debug last',
  summary: 'Shows the conversation that the newest trace belongs to.',
  usage: USAGE,
  help: HELP,
  options: OPTIONS,
});

function debugCommand(of: Pick<Command<typeof OPTIONS>, 'name' | 'summary' | 'usage' | 'help' | 'options'>): Command {
  return command({
    ...of,
    run: async ({ values }, context) => {
      const selection = selectionOf(values);
      const options = {
        limit: wholeNumberOption('--limit', values.limit, 1, MAX_LIMIT) ?? DEFAULT_LIMIT,
        include_diff: values.diff ?? false,
        include_headers: values['include-headers'] ?? false,
        include_bodies: values['include-bodies'] ?? false,
        ...tenantFilterOf(values),
      };
      await using store = openTraces(commandConfig(values.config, context));
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
