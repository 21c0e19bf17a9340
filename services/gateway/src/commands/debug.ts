import { chainText } from '../debug-chain/chain-text.ts';
import type { ChainSelection } from '../debug-chain/debug-chain.ts';
import { readChain } from '../debug-chain/read-chain.ts';
import { writeBundle } from '../debug-chain/write-bundle.ts';
import { command, usageError, type Command } from './command.ts';
import { commandConfig } from './command-config.ts';
import { openTraces } from './open-traces.ts';
import { FORMAT_OPTION, wantsJson } from './output-format.ts';
import { printJson, printText } from './print.ts';
import { TENANT_HELP, TENANT_OPTIONS, tenantFilterOf } from './tenant-options.ts';
import { wholeNumber } from './whole-number.ts';

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

const SELECTION_HELP = `  --trace-id ID        the conversation of this trace, with what its run was forked from
  --trace-group-id ID  everything of this group
  --thread-id ID       everything of this thread
  --run-id ID          everything of this run
`;

const HELP = `${TENANT_HELP}  --limit N            at most so many checkpoints, 1 to 500; 200
  --diff               what changed from each checkpoint to the next, without showing what was said
  --include-headers    also their headers
  --include-bodies     also their bodies, as far as the gateway keeps them
  --bundle-out DIR     also write debug-chain.json and manifest.json into this folder
  --format json        for programs: debug-chain.v1
  --config FILE        the gateway's configuration

The store is read beside a gateway that may be running. Credentials are never shown. All that is shown is of one tenant, which is named:
that of the trace. When several tenants have a group, thread or run of this id, --org-id and --workspace-id have to say whose is meant.

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

/** A group, a thread and a run narrow each other; a trace is in one of each already. */
export const debug = debugCommand({
  name: 'debug',
  summary: 'Shows the conversation that a trace belongs to, step by step.',
  usage: `[--trace-id ID | [--trace-group-id ID] [--thread-id ID] [--run-id ID]] ${USAGE}`,
  help: `  last                 the newest trace; the same as naming nothing\n${SELECTION_HELP}${HELP}`,
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
    words: 0,
    run: async ({ values }, context) => {
      const isJson = wantsJson(values.format);
      const selection = selectionOf(values);
      const options = {
        limit: wholeNumber('--limit', values.limit, 1, MAX_LIMIT) ?? DEFAULT_LIMIT,
        include_diff: values.diff ?? false,
        include_headers: values['include-headers'] ?? false,
        include_bodies: values['include-bodies'] ?? false,
        ...tenantFilterOf(values),
      };
      using store = openTraces(commandConfig(values.config, context));
      const chain = await readChain(store, selection, options, new Date());
      const folder = values['bundle-out'];
      if (folder !== undefined) writeBundle(folder, chain);
      if (isJson) printJson(context, chain);
      else printText(context, chainText(chain));
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
