import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { codeOf } from '@vitrine/faults/fault';
import { createHash } from 'node:crypto';
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { debugChain, type DebugChain } from '../debug-chain/debug-chain.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';
import { gatewayCommandLine } from '../registry.ts';

const SECRET = 'sk-secret-0123456789';

let gateway: TestGateway;
let sent = 0;
const ids: string[] = [];
async function send(lineage: readonly [string, string][], words: string): Promise<void> {
  const response = await fetch(`${gateway.url}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: [['authorization', `Bearer ${SECRET}`], ['content-type', 'application/json'], ...lineage],
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: words }] }),
  });
  await response.text();
  sent += 1;
  ids.push((await gateway.newest(sent)).id);
}

beforeAll(async () => {
  // The store does not redact here, so the output must.
  gateway = await startTestGateway({ SVC_TRACING_CAPTURE_BODIES: 'true', SVC_PII_MODE: 'off' });
  await send([['x-svc-thread-id', 'thread-1']], 'Say hello');
  await send(
    [
      ['x-svc-thread-id', 'thread-1'],
      ['x-svc-parent-checkpoint-id', ids[0] ?? ''],
      ['x-svc-run-id', 'run-1'],
    ],
    `My key is ${SECRET}. \u001b[2J`,
  );
  await send([], 'Say something else');
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const run = (...args: string[]) => runCaptured(gatewayCommandLine, args, { env: gateway.storage.variables });
const chainOf = async (...args: string[]): Promise<DebugChain> =>
  debugChain.parse(JSON.parse((await run('debug', ...args, '--format', 'json')).stdout));
const idsIn = ({ chain }: DebugChain) => chain.checkpoints.map(({ id }) => ids.indexOf(id));

describe('gateway debug', () => {
  test.each([
    [['last'], [2], 'trace_id'],
    [[], [2], 'trace_id'],
    [['--thread-id', 'thread-1'], [0, 1], 'thread_id'],
    [['--run-id', 'run-1'], [1], 'run_id'],
    [['--thread-id', 'thread-1', '--limit', '1'], [1], 'thread_id'],
  ])('%j shows %j', async (args, expected, identifier) => {
    const chain = await chainOf(...args);
    expect(idsIn(chain)).toEqual(expected);
    expect(chain.chain).toMatchObject({ checkpoint_count: expected.length, lineage_identifier: identifier });
  });

  test('a trace by its id is shown with its conversation', async () => {
    const chain = await chainOf('--trace-id', ids[0] ?? '');
    expect(idsIn(chain)).toEqual([0, 1]);
    expect(chain).toMatchObject({
      selection: { trace_id: ids[0] },
      source_trace_id: ids[0],
      source: { id: ids[0], step: 1 },
      chain: { thread_id: 'thread-1', target_checkpoint_id: ids[0], truncated: false },
    });
    expect(chain).not.toHaveProperty('diffs');
    expect(chain.source).not.toHaveProperty('request_body');
  });

  test('a trace of a forked run is shown with the checkpoints that it was forked from', async () => {
    const chain = await chainOf('--trace-id', ids[1] ?? '');
    expect(idsIn(chain)).toEqual([0, 1]);
    expect(chain).toMatchObject({ source: { id: ids[1], step: 2 }, chain: { run_id: 'run-1', truncated: false } });
    const cut = await chainOf('--trace-id', ids[1] ?? '', '--limit', '1');
    expect([idsIn(cut), cut.chain.truncated]).toEqual([[1], true]);
  });

  test('the source is shown even if it is older than the newest --limit checkpoints', async () => {
    const chain = await chainOf('--trace-id', ids[0] ?? '', '--limit', '1');
    expect([idsIn(chain), chain.chain.truncated]).toEqual([[0], true]);
  });

  test('--diff shows the changes from step to step', async () => {
    const { diffs } = await chainOf('--thread-id', 'thread-1', '--diff');
    expect(diffs).toEqual([
      expect.objectContaining({
        from_checkpoint_id: ids[0],
        to_checkpoint_id: ids[1],
        model_changed: false,
        request_body_changed: true,
        metadata_keys_added: ['lineage_parent_checkpoint_id', 'lineage_run_id'],
      }),
    ]);
  });

  test('headers and bodies are shown on demand, without credentials', async () => {
    const chain = await chainOf('--thread-id', 'thread-1', '--include-headers', '--include-bodies');
    const [first, second] = chain.chain.checkpoints;
    expect(JSON.parse(first?.request_headers ?? '')).toMatchObject({ authorization: ['[REDACTED]'] });
    expect(first?.request_body).toContain('Say hello');
    expect(second?.request_body).toContain('My key is [CREDENTIAL_REDACTED].');
    const { stdout } = await run('debug', '--thread-id', 'thread-1', '--include-bodies');
    expect(stdout).toContain('My key is [CREDENTIAL_REDACTED].');
  });

  test('prints a table as text', async () => {
    const { stdout, code } = await run('debug', '--thread-id', 'thread-1', '--diff');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Trace [0-9a-f]{32} of thread thread-1: 2 checkpoints\.\nOrganisation default, workspace default\.\n\nSTEP +TRACE +CREATED/,
    );
    expect(stdout).toMatch(/^2\* +[0-9a-f]{32} .*gpt-4o-mini +200 +completed/m);
    expect(stdout).toMatch(/^ {2}1 to 2: tokens [+-]\d+ .*request_body \d+ -> \d+ bytes/m);
  });

  test('--bundle-out writes the chain with its checksum, readable by its owner only, and overwrites nothing', async () => {
    const folder = join(gateway.folder, 'bundle');
    const { stdout, stderr } = await run(
      ...'debug --thread-id thread-1 --include-bodies --format json --bundle-out'.split(' '),
      folder,
    );
    expect(stderr).toContain(folder);
    const text = await readFile(join(folder, 'debug-chain.json'), 'utf8');
    expect(text).toBe(stdout);
    expect(text).not.toContain(SECRET);
    expect(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))).toMatchObject({
      selection_mode: 'thread_id',
      chain: { checkpoint_count: 2 },
      files: [
        {
          name: 'debug-chain.json',
          bytes: Buffer.byteLength(text),
          sha256: createHash('sha256').update(text).digest('hex'),
        },
      ],
    });
    expect((await readdir(folder)).toSorted()).toEqual(['debug-chain.json', 'manifest.json']);
    expect((await stat(join(folder, 'debug-chain.json'))).mode & 0o777).toBe(0o600);
    await writeFile(join(folder, 'manifest.json'), 'mine');
    // Below /proc no folder can be created, and the recursive mkdir of node would never return.
    for (const unwritable of [folder, '/proc/nowhere/bundle'])
      await expect(run('debug', 'last', '--bundle-out', unwritable)).rejects.toMatchObject({ code: 'bundle_unwritable' });
    expect(await readFile(join(folder, 'manifest.json'), 'utf8')).toBe('mine');
  });

  test.each([
    [['--trace-id', '0'.repeat(32)], 'trace_not_found'],
    [['--trace-id', 'nonsense'], 'trace_not_found'],
    [['--run-id', 'none'], 'trace_not_found'],
  ])('%j is %s', async (args, code) => {
    const fault = await run('debug', ...args).catch((error: unknown) => error);
    expect(codeOf(fault)).toBe(code);
  });

  test.each([
    ['--limit', '0'],
    ['--limit', 'x'],
    ['--format', 'xml'],
    ['last', '--run-id', 'run-1'],
    ['--thread-id', ''],
    ['--unknown'],
  ])('%s %s is a usage error', async (...args) => {
    const { code, stdout, stderr } = await run('debug', ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Examples:');
  });
});
