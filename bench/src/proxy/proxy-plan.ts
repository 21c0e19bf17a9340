import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { findNginx } from './nginx.ts';

/** `gateway+all`: keys, six limits, metrics, and a span for each request. `nginx` only where it is installed. */
export const TARGET_NAMES = ['direct', 'bare', 'nginx', 'gateway', 'gateway+limits', 'gateway+all', 'gateway+bodies'] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/** `cut` = streams, most of them cut by the client or the provider; only counts matter there, so only gateways run it. */
export type LoadKind = 'json' | 'stream' | 'cut';

export interface ProxyCase {
  readonly name: string;
  readonly kind: LoadKind;
  readonly connections: number;
}

export const PROXY_CASES: readonly ProxyCase[] = [
  { name: 'json-1', kind: 'json', connections: 1 },
  { name: 'json-32', kind: 'json', connections: 32 },
  { name: 'json-256', kind: 'json', connections: 256 },
  { name: 'sse-16', kind: 'stream', connections: 16 },
  { name: 'cut-256', kind: 'cut', connections: 256 },
];

/** Number of requests with all features on until V8 has compiled their code. */
export const WARM_UP_REQUESTS = 150_000;

export interface ProxyPlan {
  readonly rounds: number;
  /** How often all measured processes are started; rounds are divided among the starts. */
  readonly starts: number;
  readonly seconds: number;
  /** Requests that each started process serves before anything is measured; 0 = none. */
  readonly warmUp: number;
  readonly cases: readonly ProxyCase[];
  readonly targets: readonly TargetName[];
  /** Requests of the long run; 0 = none. */
  readonly soak: number;
  /** Another checkout: its gateways run beside this one's. */
  readonly against: URL | undefined;
}

export const PROXY_OPTIONS = [
  ['--rounds N', 'rounds per case (default 12); figures are medians over rounds'],
  ['--seconds N', 'seconds per round, case and target (default 1): a busy machine changes within a few'],
  [
    '--warm-up N',
    `requests to each process before anything is measured (default ${WARM_UP_REQUESTS}): V8 compiles for as long; 0 = just started`,
  ],
  ['--cases A,B', `some of ${PROXY_CASES.map((item) => item.name).join(', ')}, or none`],
  ['--targets A,B', `some of ${TARGET_NAMES.join(', ')}`],
  ['--bodies', 'of the gateways only the one that captures bodies'],
  ['--no-bodies', 'of the gateways only those that capture no bodies'],
  ['--against DIR', 'each gateway beside that of another checkout (installed), with the ratio between both'],
  ['--starts N', 'starts of all processes, among which rounds are divided: one process is up to 5 % off; 1, with --against 6'],
  ['--soak N', 'afterwards one run of N requests at 32 connections that samples memory; off by default'],
] as const;

/** Reads the options of `bench proxy`. */
export function readProxyPlan(
  args: readonly string[],
  hasNginx = findNginx() !== undefined,
): ProxyPlan | { readonly problem: string } {
  try {
    const { values } = parseArgs({
      args: [...args],
      allowNegative: true,
      options: {
        rounds: { type: 'string', default: '12' },
        starts: { type: 'string' },
        seconds: { type: 'string', default: '1' },
        'warm-up': { type: 'string', default: String(WARM_UP_REQUESTS) },
        cases: { type: 'string', default: PROXY_CASES.map((item) => item.name).join() },
        targets: { type: 'string', default: TARGET_NAMES.filter((name) => name !== 'nginx' || hasNginx).join() },
        bodies: { type: 'boolean' },
        against: { type: 'string' },
        soak: { type: 'string', default: '0' },
      },
    });
    const left =
      values.bodies === undefined ? [] : values.bodies ? ['gateway', 'gateway+limits', 'gateway+all'] : ['gateway+bodies'];
    const targets = pick('--targets', values.targets, TARGET_NAMES).filter((name) => !left.includes(name));
    const names =
      values.cases === 'none'
        ? []
        : pick(
            '--cases',
            values.cases,
            PROXY_CASES.map((item) => item.name),
          );
    if (targets.includes('nginx') && !hasNginx) throw new Error('--targets: nginx is not installed.');
    if (targets.length === 0) throw new Error('No target is left to measure.');
    return {
      rounds: whole('--rounds', values.rounds, 1),
      starts: whole('--starts', values.starts ?? (values.against === undefined ? '1' : '6'), 1),
      seconds: whole('--seconds', values.seconds, 1),
      warmUp: whole('--warm-up', values['warm-up'], 0),
      cases: PROXY_CASES.filter((item) => names.includes(item.name)),
      targets,
      soak: whole('--soak', values.soak, 0),
      against: checkoutOf(values.against),
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function pick<Name extends string>(option: string, list: string, known: readonly Name[]): Name[] {
  const wanted = list.split(',').filter((name) => name !== '');
  const unknownName = wanted.find((name) => !known.some((item) => item === name));
  if (unknownName !== undefined) throw new Error(`${option}: unknown "${unknownName}"; known: ${known.join(', ')}.`);
  return known.filter((name) => wanted.includes(name));
}

/** The root of the checkout that an option names. */
export function checkoutOf(folder: string | undefined): URL | undefined {
  return folder === undefined ? undefined : pathToFileURL(`${resolve(folder)}/`);
}

/** The whole number that an option was given; throws with the reason. */
export function whole(option: string, text: string, least: number): number {
  const value = Number(text);
  if (text === '' || !Number.isInteger(value) || value < least)
    throw new Error(`${option} wants a whole number from ${least}, not "${text}".`);
  return value;
}
