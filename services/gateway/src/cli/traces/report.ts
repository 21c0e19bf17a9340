import { plainCost } from '@vitrine/traces/measures-to-response';
import { usdJson } from '@vitrine/traces/usd';
import { tracesQuery } from '../../admin/analytics/analytics-query.ts';
import { queryOptions } from '../query-options.ts';
import { reportText } from '../report/report-text.ts';
import { readReport } from '../report/usage-report.ts';
import { command } from '@vitrine/command-line/command';
import { commandConfig } from '../config/command-config.ts';
import { openTraces } from '../offline-traces/open-traces.ts';
import { storagePlace } from '../../storage/storage-settings.ts';
import { FORMAT_OPTION, printResult } from '@vitrine/command-line/output-format';
import { TENANT_HELP, TENANT_OPTIONS, tenantFilterOf } from './tenant-options.ts';
import { wholeNumberOption } from '@vitrine/command-line/option-values';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 200;

export const report = command({
  name: 'report',
  summary: 'Sums up tokens and cost of the stored traces; a gateway may be running.',
  usage:
    '[--from TIME] [--to TIME] [--provider NAME] [--model NAME] [--org-id ID] [--workspace-id ID] [--limit N] ' +
    '[--format text|json] [--config FILE]',
  help: `  --from TIME          not before: RFC 3339, or YYYY-MM-DD for the first moment of a day (UTC)
  --to TIME            not after: RFC 3339, or YYYY-MM-DD for its last
  --provider NAME      only this provider: openai or anthropic
  --model NAME         only this model, by its exact name
${TENANT_HELP}  --limit N            number of newest traces to list, 1 to 200; 10
  --format json        for programs: report.v1
  --config FILE        the gateway's configuration

Without --org-id and --workspace-id the traces of all tenants are summed up; the report lists the tenants.

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
  run: async ({ values }, context) => {
    const { config: file, format, limit, from, to, provider, model } = values;
    const newest = wholeNumberOption('--limit', limit, 1, MAX_LIMIT) ?? DEFAULT_LIMIT;
    const query = queryOptions(tracesQuery, { from, to, provider, model });
    const config = commandConfig(file, context);
    await using store = openTraces(config);
    const result = await readReport(store, {
      ...query,
      ...tenantFilterOf(values),
      storage: { driver: config.storage.driver, path: storagePlace(config.storage) },
      limit: newest,
      now: new Date(),
      printCost: format === 'json' ? usdJson : plainCost,
    });
    printResult(context, format, result, reportText);
    return 0;
  },
});
