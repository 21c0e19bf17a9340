import { DAY_MS } from '@vitrine/traces/trace-analytics';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { createProgress, importReport, importText } from '../old-gateway/import-report.ts';
import { openDryTarget, openImportTarget } from '../old-gateway/import-target.ts';
import { failedOf, importTraces } from '../old-gateway/import-traces.ts';
import { OldTraces } from '../old-gateway/old-traces.ts';
import { privacyRules } from '../privacy/pii-config.ts';
import { commandConfig } from './command-config.ts';
import { command, usageError } from './command.ts';
import { FORMAT_OPTION, wantsJson } from './output-format.ts';
import { printJson, printText } from './print.ts';

export const importCommand = command({
  name: 'import',
  summary: 'Brings the traces of an ongoingai/gateway over, once each, however often it is run.',
  usage: '--from FILE [--dry-run] [--format text|json] [--config FILE]',
  help: `  --from FILE    its trace file, such as ./data/ongoingai.db; that gateway may be running
  --dry-run      counts, and writes nothing; this gateway may be running then
  --format json  for programs: import.v1
  --config FILE  this gateway's configuration

This gateway must not be running. Traces older than tracing.retention_days stay behind, and bodies where tracing.capture_bodies
is false; what may not be stored is hidden. A run that was broken off is just started again. Progress is told on standard error.
Exit code 1: something failed, or not all was read.

Examples:
  npm run gateway -- import --from ./data/ongoingai.db --dry-run
  npm run gateway -- import --from ./data/ongoingai.db
`,
  options: { from: { type: 'string' }, 'dry-run': { type: 'boolean' }, ...FORMAT_OPTION },
  words: 0,
  run: async ({ values }, context) => {
    const isJson = wantsJson(values.format);
    const { from, 'dry-run': dryRun = false } = values;
    if (from === undefined || from === '') throw usageError('import needs --from and a file, such as ./data/ongoingai.db');
    const { pii, tracing, storage, auth } = commandConfig(values.config, context);
    const policy = {
      captureBodies: tracing.capture_bodies,
      bodyMaxSize: tracing.body_max_size,
      privacy: privacyRules(pii, tracing.capture_bodies),
    };
    // A byte more, which tells whether that was all.
    using source = new OldTraces(from, tracing.body_max_size + 1);
    using target = dryRun ? openDryTarget(storage.path) : openImportTarget(storage.path);
    let isStopped = false;
    void context.untilStopped().then(() => (isStopped = true));
    const startedAt = performance.now();
    const counts = await importTraces({
      source,
      target,
      tools: { policy, privacy: openPrivacyContext(policy.privacy), keyHeader: auth.header },
      oldestMs: Date.now() - tracing.retention_days * DAY_MS,
      onProgress: createProgress(
        source.count(),
        () => performance.now(),
        (line) => context.stderr.write(line),
      ),
      isStopped: () => isStopped,
    });
    const report = importReport(counts, {
      from,
      into: storage.path,
      dry_run: dryRun,
      retention_days: tracing.retention_days,
      ms: performance.now() - startedAt,
    });
    if (isJson) printJson(context, report);
    else printText(context, importText(report));
    return report.proven && failedOf(counts.failed) === 0 ? 0 : 1;
  },
});
