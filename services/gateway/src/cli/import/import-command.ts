import { DAY_MS } from '@vitrine/traces/time-buckets';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { importReport, importText } from '@vitrine/ongoingai-import/import-report';
import { openDryTarget, openImportTarget } from '@vitrine/ongoingai-import/import-target';
import { failedOf, importTraces } from '@vitrine/ongoingai-import/import-traces';
import { OldTraces } from '@vitrine/ongoingai-import/old-traces';
import { privacyRules } from '../../proxy/privacy/pii-config.ts';
import { storagePlace } from '../../storage/storage-settings.ts';
import { commandConfig } from '../config/command-config.ts';
import { command, stringOption, switchOption } from '@vitrine/command-line/command';
import { createProgress } from '@vitrine/command-line/progress';
import { formatOption, printResult } from '@vitrine/command-line/print-result';
import { Fault } from '@vitrine/faults/fault';

export const importCommand = command({
  name: 'import',
  summary: 'Imports the traces of an ongoingai/gateway. Idempotent: each trace is imported once.',
  options: {
    from: { ...stringOption('FILE', 'its trace file, such as ./data/ongoingai.db; that gateway may be running'), required: true },
    'dry-run': switchOption('only counts, and writes nothing; this gateway may be running'),
    format: formatOption('for programs: import.v1'),
    config: stringOption('FILE', "this gateway's configuration"),
  },
  help: `This gateway must not be running. Traces older than tracing.retention_days are skipped, and all bodies while tracing.capture_bodies
is false; secrets and personal data are redacted as configured. After an interruption, run it again. Progress is on standard error.
Exit code 1: a trace failed, or not all were read.`,
  examples: ['import --from ./data/ongoingai.db --dry-run', 'import --from ./data/ongoingai.db'],
  run: async ({ values }, context) => {
    const { from, 'dry-run': dryRun = false } = values;
    const { pii, tracing, storage, auth } = commandConfig(values.config, context);
    if (storage.driver !== 'sqlite')
      throw new Fault('storage_unusable', {
        say: `${storagePlace(storage)} cannot be imported to: import writes to a file, so set storage.driver to sqlite`,
      });
    const policy = {
      captureBodies: tracing.capture_bodies,
      bodyMaxSize: tracing.body_max_size,
      privacy: privacyRules(pii, tracing.capture_bodies),
    };
    // One byte more than is stored, to detect a longer body.
    using source = new OldTraces(from, tracing.body_max_size + 1);
    using target = dryRun ? openDryTarget(storage.path) : openImportTarget(storage.path);
    let isStopped = false;
    void context.untilSignal().then(() => (isStopped = true));
    const startedAt = performance.now();
    const progress = createProgress({ total: source.count(), items: 'traces read', stderr: context.stderr });
    const counts = await importTraces({
      source,
      target,
      tools: { policy, privacy: openPrivacyContext(policy.privacy), keyHeader: auth.header },
      oldestMs: Date.now() - tracing.retention_days * DAY_MS,
      onProgress: ({ read }) => progress(read),
      isStopped: () => isStopped,
    });
    const report = importReport(counts, {
      from,
      into: storage.path,
      dry_run: dryRun,
      retention_days: tracing.retention_days,
      ms: performance.now() - startedAt,
    });
    printResult(context, values.format, report, importText);
    return report.proven && failedOf(counts.failed) === 0 ? 0 : 1;
  },
});
