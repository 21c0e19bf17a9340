import type { Bench, BenchOutcome, Progress } from '../bench.ts';
import { detectRows } from './detect-rows.ts';
import { pageRows } from './page-rows.ts';
import { readScanPlan, SCAN_OPTIONS, type ScanPlan } from './scan-plan.ts';

/** The cost of scanning: detection on a page, and pages a second of a scanner with its transactions. */
export const scanBench: Bench = {
  name: 'scan',
  sentence: 'detection on pages of several sizes, and pages a second of a scanner against fixture storefronts, politeness off',
  options: SCAN_OPTIONS,
  examples: ['scan', 'scan --rounds 0', 'scan --storefronts 400 --rounds 3'],
  prepare(args) {
    const plan = readScanPlan(args);
    return 'problem' in plan ? plan : { run: (progress) => runScanBench(plan, progress) };
  },
};

async function runScanBench(plan: ScanPlan, progress: Progress): Promise<BenchOutcome> {
  progress('detection');
  const detection = detectRows(plan.repeats);
  if (plan.rounds === 0) return detection;
  const pages = await pageRows(plan, progress);
  return { rows: [...detection.rows, ...pages.rows], broken: [...detection.broken, ...pages.broken] };
}
