import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TracePage } from '@vitrine/traces/trace';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { debugChain, type DebugChain } from '../debug-chain/debug-chain.ts';
import { usageReport, type UsageReport } from '../report/usage-report.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';
import { gatewayCommandLine } from '../registry.ts';

const KEYS = { acme: 'acme-search-token-0123456789', other: 'acme-other-token-0123456789', beta: 'beta-search-token-0123456789' };
const YAML = `
auth:
  enabled: true
  keys:
    - {id: acme, token: ${KEYS.acme}, org_id: acme, workspace_id: search, role: owner}
    - {id: other, token: ${KEYS.other}, org_id: acme, workspace_id: other, role: owner}
    - {id: beta, token: ${KEYS.beta}, org_id: beta, workspace_id: search, role: owner}`;

let gateway: TestGateway;
/** The traces in the order in which they were sent: sender and thread. */
const sent: { readonly sender: string; readonly thread: string; readonly id: string }[] = [];
async function send(sender: keyof typeof KEYS | 'unknown', thread: string, model = 'gpt-4o-mini'): Promise<void> {
  const key = sender === 'unknown' ? 'sgk_wrong-0123456789' : KEYS[sender];
  const correlation = `corr-${sent.length}`;
  await fetch(`${gateway.url}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer sk-test-0123456789',
      'content-type': 'application/json',
      'x-svc-gateway-key': key,
      'x-svc-thread-id': thread,
      'x-request-id': correlation,
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: `words of ${sender}` }] }),
  }).then((response) => response.text());
  const id = await waitUntil(async () => newest(), { what: 'the trace' });
  sent.push({ sender, thread, id });
}
/** The newest trace of all, once it has changed. */
async function newest(): Promise<string | undefined> {
  try {
    const { source_trace_id: id } = await chainOf('last');
    return id === sent.at(-1)?.id ? undefined : id;
  } catch {
    return undefined;
  }
}

beforeAll(async () => {
  gateway = await startTestGateway({}, YAML);
  await send('acme', 'shared');
  await send('beta', 'shared', 'gpt-4o');
  await send('other', 'shared');
  await send('acme', 'own');
  await send('unknown', 'own');
  await send('acme', 'shared');
  await send('beta', 'shared');
  await send('unknown', 'nowhere');
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const run = (...args: string[]) => runCaptured(gatewayCommandLine, args, { env: gateway.storage.variables });
const chainOf = async (...args: string[]): Promise<DebugChain> =>
  debugChain.parse(JSON.parse((await run('debug', ...args, '--format', 'json')).stdout));
const reportOf = async (...args: string[]): Promise<UsageReport> =>
  usageReport.parse(JSON.parse((await run('report', ...args, '--format', 'json')).stdout));
const stepsOf = ({ chain }: DebugChain) => chain.checkpoints.map(({ id }) => sent.findIndex((one) => one.id === id));
const idOf = (i: number) => sent[i]?.id ?? '';

describe('gateway debug', () => {
  test('of a trace shows only its own tenant, and lists other tenants with the ids', async () => {
    const chain = await chainOf('--trace-id', idOf(0));
    expect(stepsOf(chain)).toEqual([0, 5]);
    expect(chain).toMatchObject({
      org_id: 'acme',
      workspace_id: 'search',
      other_tenants: [
        { org_id: 'acme', workspace_id: 'other' },
        { org_id: 'beta', workspace_id: 'search' },
      ],
      other_tenant_count: 2,
    });
    const { stdout } = await run('debug', '--trace-id', idOf(0));
    expect(stdout).toContain('Organisation acme, workspace search.\n');
    expect(stdout).toMatch(
      /other tenants with the same ids are not shown:\n {2}--org-id acme --workspace-id other\n {2}--org-id beta --workspace-id search\n/,
    );
  });

  test('of ids that only one tenant has shows the tenant, and no others', async () => {
    const chain = await chainOf('--trace-id', idOf(3));
    expect(chain).toMatchObject({ org_id: 'acme', workspace_id: 'search' });
    // A rejected request of an unknown caller names the thread too.
    expect(chain.other_tenants).toEqual([{ org_id: '', workspace_id: '' }]);
    expect(stepsOf(chain)).toEqual([3]);
  });

  test('of a thread of several tenants ends with 1 and lists the tenants with their flags', async () => {
    const fault = await run('debug', '--thread-id', 'shared').catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: 'ambiguous_tenant' });
    const { say } = fault as { say: string };
    expect(say).toContain('thread shared');
    for (const flags of ['acme --workspace-id other', 'acme --workspace-id search', 'beta --workspace-id search'])
      expect(say).toContain(`\n  --org-id ${flags}`);
    await expect(run('debug', '--thread-id', 'shared', '--org-id', 'acme')).rejects.toMatchObject({ code: 'ambiguous_tenant' });
  });

  test.each([
    [
      ['--org-id', 'beta'],
      [1, 6],
    ],
    [['--workspace-id', 'other'], [2]],
    [
      ['--org-id', 'acme', '--workspace-id', 'search'],
      [0, 5],
    ],
    [['--org-id', 'acme', '--workspace-id', 'search', '--limit', '1'], [5]],
  ])('of that thread with %j shows %j', async (flags, expected) => {
    const chain = await chainOf('--thread-id', 'shared', ...flags);
    expect(stepsOf(chain)).toEqual(expected);
    expect(chain.options).toMatchObject({ limit: expect.any(Number) });
    for (const step of chain.chain.checkpoints) expect(step.metadata['org_id']).toBe(chain.org_id);
  });

  test('rejected requests of unknown callers make no thread ambiguous, and are shown when no tenant has it', async () => {
    expect(stepsOf(await chainOf('--thread-id', 'own'))).toEqual([3]);
    const chain = await chainOf('--thread-id', 'nowhere');
    expect([stepsOf(chain), chain.org_id, chain.workspace_id]).toEqual([[7], '', '']);
    expect((await run('debug', '--thread-id', 'nowhere')).stdout).toContain('No tenant: the caller was unknown.\n');
  });

  test('last is the newest of all, or of the selected tenants', async () => {
    expect(stepsOf(await chainOf('last'))).toEqual([7]);
    expect(stepsOf(await chainOf('last', '--org-id', 'acme'))).toEqual([0, 5]);
    expect(stepsOf(await chainOf('--workspace-id', 'other'))).toEqual([2]);
    expect(stepsOf(await chainOf('last', '--org-id', 'beta', '--workspace-id', 'search'))).toEqual([1, 6]);
  });

  test.each([
    ['last', '--org-id', 'unknown'],
    ['--thread-id', 'own', '--org-id', 'beta'],
    ['--thread-id', 'none', '--org-id', 'beta'],
  ])('%s %s %s %s finds nothing', async (...args) => {
    const wanted = args.filter((arg): arg is string => arg !== undefined);
    await expect(run('debug', ...wanted)).rejects.toMatchObject({ code: 'trace_not_found' });
  });

  test('a trace of another tenant than the selected one is not shown', async () => {
    await expect(run('debug', '--trace-id', idOf(0), '--org-id', 'beta')).rejects.toMatchObject({
      code: 'trace_not_found',
      message: expect.stringContaining('--org-id beta'),
    });
  });

  test('a bundle names its tenant', async () => {
    const folder = join(gateway.folder, 'bundle');
    await run('debug', '--thread-id', 'shared', '--org-id', 'beta', '--bundle-out', folder);
    expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toMatchObject({
      selection_mode: 'thread_id',
      chain: { org_id: 'beta', workspace_id: 'search', checkpoint_count: 2 },
    });
  });

  test.each(['--org-id', '--workspace-id'])('an empty %s is a usage error', async (flag) => {
    for (const name of ['debug', 'report']) {
      const { code, stderr } = await run(name, flag, '');
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${flag} must not be empty`)]);
    }
  });
});

describe('gateway report', () => {
  test('lists the tenants that it sums up', async () => {
    const report = await reportOf();
    expect(report.summary.total_requests).toBe(8);
    expect(report).toMatchObject({ tenant_count: 4 });
    expect(report.tenants).toEqual([
      { org_id: '', workspace_id: '' },
      { org_id: 'acme', workspace_id: 'other' },
      { org_id: 'acme', workspace_id: 'search' },
      { org_id: 'beta', workspace_id: 'search' },
    ]);
    expect((await run('report')).stdout).toContain('\nAll 4 tenants: no tenant, acme/other, acme/search, beta/search\n');
  });

  test.each([
    [['--org-id', 'beta'], [6, 1], 'Tenant: beta/search'],
    [['--org-id', 'acme'], [5, 3, 2, 0], '2 of 4 tenants: acme/other, acme/search'],
    [['--workspace-id', 'search'], [6, 5, 3, 1, 0], '2 of 4 tenants: acme/search, beta/search'],
    [['--org-id', 'acme', '--workspace-id', 'other'], [2], 'Tenant: acme/other'],
    [['--org-id', 'none'], [], 'No tenant of 4 matches'],
  ])('%j sums up %j', async (flags, expected, line) => {
    const report = await reportOf(...flags);
    const traces = report.recent_traces.map(({ id }) => sent.findIndex((one) => one.id === id));
    expect([report.summary.total_requests, traces]).toEqual([expected.length, expected]);
    expect((await run('report', ...flags)).stdout).toContain(`\n${line}`);
    const listed = (await gatewayTraces()).filter(({ id }) => expected.some((i) => idOf(i) === id));
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    expect(report.summary.total_tokens).toBe(sum(listed.map(({ total_tokens: tokens }) => tokens)));
    expect(report.summary.total_cost_usd).toBeCloseTo(sum(listed.map(({ estimated_cost_usd: cost }) => cost)), 10);
    expect(sum(report.models.map(({ request_count: count }) => count))).toBe(expected.length);
    expect(sum(report.providers.map(({ total_tokens: tokens }) => tokens))).toBe(report.summary.total_tokens);
    const models = new Set(report.models.map(({ model }) => model));
    expect(report.models).toHaveLength(models.size);
  });

  test('of several tenants lists the newest traces of all of them', async () => {
    const report = await reportOf('--workspace-id', 'search', '--limit', '2');
    expect(report.recent_traces.map(({ id }) => id)).toEqual([idOf(6), idOf(5)]);
    expect(report.filters).toEqual({ workspace_id: 'search', limit: 2 });
  });
});

/** Tokens of the tenants. A request of an unknown caller has no tokens. */
async function gatewayTraces(): Promise<TracePage['items']> {
  const pages = await Promise.all(
    Object.values(KEYS).map(async (key) => {
      const response = await fetch(`${gateway.url}/api/traces`, { headers: { 'x-svc-gateway-key': key } });
      return (await response.json()) as TracePage;
    }),
  );
  return pages.flatMap(({ items }) => items);
}
