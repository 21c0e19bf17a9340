import { plainCost } from '@vitrine/traces/measures-to-response';
import { usdJson } from '@vitrine/traces/usd';
import { tracesQuery } from '../../admin/analytics/analytics-routes.ts';
import { reportText } from '../report/report-text.ts';
import { readReport } from '../report/usage-report.ts';
import { command, stringOption } from '@vitrine/command-line/command';
import { formatOption, printResult } from '@vitrine/command-line/print-result';
import { wholeNumberOption } from '@vitrine/command-line/option-values';
import { commandConfig, CONFIG_OPTION } from '../config/command-config.ts';
import { openTraces } from '../offline-traces/open-traces.ts';
import { storagePlace } from '../../storage/storage-settings.ts';
import { queryOptions, RANGE_OPTIONS, tenantFilterOf, tenantOptions } from '../query-options.ts';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 200;

export const report = command({
  name: 'report',
  summary: 'Sums up tokens and cost of the stored traces; a gateway may be running.',
  options: {
    ...RANGE_OPTIONS,
    provider: stringOption('NAME', 'only this provider: openai or anthropic'),
    model: stringOption('NAME', 'only this model, by its exact name'),
    ...tenantOptions('traces'),
    limit: stringOption('N', `number of newest traces to list, 1 to ${MAX_LIMIT}; ${DEFAULT_LIMIT}`),
    format: formatOption('for programs: report.v1'),
    ...CONFIG_OPTION,
  },
  help: 'Without --org-id and --workspace-id the traces of all tenants are summed up; the report lists the tenants.',
  examples: [
    'report',
    'report --from 2026-02-01 --to 2026-02-14 --format json',
    'report --provider openai --limit 25',
    'report --org-id acme --workspace-id search',
  ],
  run: async ({ values }, context) => {
    const { config: file, format, limit, from, to, provider, model } = values;
    const newest = wholeNumberOption('--limit', limit, 1, MAX_LIMIT) ?? DEFAULT_LIMIT;
    const query = queryOptions(tracesQuery, { from, to, provider, model });
    const config = commandConfig(file, context);
    await using store = await openTraces(config);
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
