import { codeOf, messageOf } from '@vitrine/faults/fault';
import { exactCost, plainCost } from '@vitrine/traces/measures-to-response';
import { resolve } from 'node:path';
import { tracesQuery } from '../admin-analytics/analytics-query.ts';
import { readQuery } from '../http/query-shapes.ts';
import { reportText } from '../report/report-text.ts';
import { readReport } from '../report/usage-report.ts';
import { command, usageError } from './command.ts';
import { commandConfig } from './command-config.ts';
import { openTraces } from './open-traces.ts';
import { FORMAT_OPTION, wantsJson } from './output-format.ts';
import { printJson, printText } from './print.ts';
import { TENANT_HELP, TENANT_OPTIONS, tenantFilterOf } from './tenant-options.ts';
import { wholeNumber } from './whole-number.ts';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 200;

export const report = command({
  name: 'report',
  summary: 'Sums up what the stored traces used and cost, whether or not a gateway is running.',
  usage:
    '[--from TIME] [--to TIME] [--provider NAME] [--model NAME] [--org-id ID] [--workspace-id ID] [--limit N] ' +
    '[--format text|json] [--config FILE]',
  help: `  --from TIME          not before: RFC 3339, or YYYY-MM-DD for the first moment of a day (UTC)
  --to TIME            not after: RFC 3339, or YYYY-MM-DD for its last
  --provider NAME      only this provider: openai or anthropic
  --model NAME         only this model, by its exact name
${TENANT_HELP}  --limit N            how many of the newest traces to list, 1 to 200; 10
  --format json        for programs: report.v1
  --config FILE        the gateway's configuration

Unless --org-id or --workspace-id is given, the traces of all tenants are summed up; the report names the tenants.

Examples:
  npm run gateway -- report
  npm run gateway -- report --from 2026-02-01 --to 2026-02-14 --format json
  npm run gateway -- report --provider openai --limit 25
  npm run gateway -- report --org-id acme --workspace-id search
`,
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    provider: { type: 'string' },
    model: { type: 'string' },
    limit: { type: 'string' },
    ...TENANT_OPTIONS,
    ...FORMAT_OPTION,
  },
  words: 0,
  run: async ({ values }, context) => {
    const { config: named, format, limit, from, to, provider, model } = values;
    const isJson = wantsJson(format);
    const newest = wholeNumber('--limit', limit, 1, MAX_LIMIT) ?? DEFAULT_LIMIT;
    const range = { ...rangeOf({ from, to, provider, model }), ...tenantFilterOf(values) };
    const config = commandConfig(named, context);
    using store = openTraces(config);
    const made = await readReport(store, {
      ...range,
      path: resolve(config.storage.path),
      limit: newest,
      now: new Date(),
      printCost: isJson ? exactCost : plainCost,
    });
    if (isJson) printJson(context, made);
    else printText(context, reportText(made));
    return 0;
  },
});

/** The same rules as the admin API's. */
function rangeOf(asked: Readonly<Record<string, unknown>>) {
  try {
    const { from, to, provider, model } = readQuery(tracesQuery, asked);
    return { from, to, provider, model };
  } catch (error) {
    throw codeOf(error) === 'invalid_query' ? usageError(messageOf(error)) : error;
  }
}
