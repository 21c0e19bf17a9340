import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../running-process.ts';
import { runProgram } from '../programs.ts';

export const CHART = join(ROOT, 'charts/vitrine');
export const HELMS = ['helm3', 'helm4'] as const;
export type Helm = (typeof HELMS)[number];
/** A Helm built from sources assumes an old cluster version. */
const KUBE_VERSION = '--kube-version=1.35.4';
export const RELEASE = 'shop';
export const NAMESPACE = 'gateways';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
}

export interface RenderOptions {
  readonly helm: Helm;
  readonly values?: object;
  /** Kinds of the cluster beside its own, such as `monitoring.coreos.com/v1`. */
  readonly apiVersions?: readonly string[];
  /** One template instead of all. */
  readonly only?: string;
}

/** The text that Helm renders. Errors: what Helm printed. */
export function renderText({ helm, values = {}, apiVersions = [], only }: RenderOptions): string {
  const args = ['template', RELEASE, CHART, `--namespace=${NAMESPACE}`, KUBE_VERSION, '--values=-'];
  if (apiVersions.length > 0) args.push(`--api-versions=${apiVersions.join(',')}`);
  if (only !== undefined) args.push(`--show-only=${only}`);
  const { status, stdout, stderr } = runProgram(helm, args, JSON.stringify(values));
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

export function renderChart(options: RenderOptions): Manifest[] {
  return parseAllDocuments(renderText(options)).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}

/** The notes as Helm 4 renders them; Helm 3 needs a cluster for them. */
export function renderNotes(values: object): string {
  const args = ['install', RELEASE, CHART, `--namespace=${NAMESPACE}`, '--dry-run=client', '--values=-'];
  const { status, stdout, stderr } = runProgram('helm4', args, JSON.stringify(values));
  if (status !== 0) throw new Error(stderr);
  return stdout.split('NOTES:\n')[1] ?? '';
}

export function lintChart(helm: Helm): string {
  const { status, stdout, stderr } = runProgram(helm, ['lint', '--strict', CHART, KUBE_VERSION]);
  if (status !== 0) throw new Error(stdout + stderr);
  return stdout;
}
