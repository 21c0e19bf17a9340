import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { delimiter, join } from 'node:path';
import { commandsIn, paste } from './printed-commands.ts';
import { describeWithPrograms } from './programs.ts';
import type { TraceItem } from './running-gateway.ts';
import { freePort, startProcess, type RunningProcess } from './running-process.ts';

/** The PATH of a shell outside npm: npm itself may run on an older Node than the one that the project brings. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.endsWith(join('node_modules', '.bin')))
  .join(delimiter);

/** Timeout of npm and a start before the expected end; the 20 s of a shutdown are not what these tests are about. */
const END_MS = 120_000;

const npmStart = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  startProcess({ command: ['npm', 'start', ...(args.length === 0 ? [] : ['--', ...args])], env: { PATH, ...env } });

interface Started {
  readonly running: RunningProcess;
  readonly url: string;
  readonly stop: AsyncDisposableStack;
}

async function startVitrine(args: readonly string[]): Promise<Started> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder('start'));
  const port = await freePort();
  const running = opened.use(
    npmStart(args, { VITRINE_DATA_DIR: folder.path, SVC_SERVER_PORT: String(port), VITRINE_STORES_ENABLED: 'false' }),
  );
  await running.says(/Stop it with Ctrl\+C/);
  return { running, url: `http://127.0.0.1:${port}`, stop: opened.move() };
}

describe('npm start', () => {
  let vitrine: Started;
  beforeAll(async () => {
    vitrine = await startVitrine([]);
  });
  afterAll(async () => vitrine.stop.disposeAsync());

  test('serves the gateway on SVC_SERVER_PORT', async () => {
    const response = await fetch(`${vitrine.url}/`);
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({ name: 'svc-gateway', status: 'ok' }),
    ]);
  });

  test('prints the variables for SDKs', () => {
    expect(commandsIn(vitrine.running.stdout, 'export')).toEqual([
      `export OPENAI_BASE_URL=${vitrine.url}/openai/v1`,
      `export ANTHROPIC_BASE_URL=${vitrine.url}/anthropic`,
    ]);
  });

  test('prints curl lines that take the account from the environment', () => {
    const [chat, messages] = commandsIn(vitrine.running.stdout, 'curl');
    expect(chat).toContain(`curl ${vitrine.url}/openai/v1/chat/completions`);
    expect(chat).toContain('$OPENAI_API_KEY');
    expect(messages).toContain(`${vitrine.url}/anthropic/v1/messages`);
    expect(messages).toContain('$ANTHROPIC_API_KEY');
  });

  describeWithPrograms(['curl'], 'its lines', () => {
    test('an empty list of traces is available at once', async () => {
      const [list = ''] = commandsIn(vitrine.running.stdout, 'curl').filter((command) => command.includes('/api/traces?'));
      expect(JSON.parse(await paste(list))).toEqual({ items: [] });
    });
  });
});

describeWithPrograms(['curl'], 'npm start -- --demo', () => {
  let vitrine: Started;
  beforeAll(async () => {
    vitrine = await startVitrine(['--demo']);
  });
  afterAll(async () => vitrine.stop.disposeAsync());
  const listed = async (count: number) => {
    const [list = ''] = commandsIn(vitrine.running.stdout, 'curl').filter((command) => command.includes('/api/traces?'));
    return waitUntil(
      async () => {
        const { items } = JSON.parse(await paste(list)) as { items: TraceItem[] };
        return items.length >= count && items;
      },
      { what: `${count} traces` },
    );
  };

  test('the printed lines can be pasted: two exchanges, and their traces with bodies', async () => {
    const [chat = '', messages = '', ...look] = commandsIn(vitrine.running.stdout, 'curl');
    expect(JSON.parse(await paste(chat))).toMatchObject({ object: 'chat.completion', model: 'gpt-4o-mini' });
    expect(await paste(messages)).toContain('event: message_stop');
    const items = await listed(2);
    expect(items.map(({ model, outcome }) => [model, outcome])).toEqual([
      ['claude-sonnet-5', 'completed'],
      ['gpt-4o-mini', 'completed'],
    ]);
    const [, detail = '', diagnostics = ''] = look;
    for (const { id } of items) {
      const trace = JSON.parse(await paste(detail.replace('<id>', id))) as Record<string, string>;
      expect(trace['request_body']).toContain('Say hello');
      expect(trace['response_body']).toMatch(/chat\.completion|message_stop/);
      expect(JSON.stringify(trace)).not.toContain('sk-demo-');
    }
    expect(JSON.parse(await paste(diagnostics))).toMatchObject({ diagnostics: { written_total: 2, total_dropped_total: 0 } });
  });

  test.each([
    [
      'openai',
      'OPENAI_API_KEY',
      `
       import OpenAI from 'openai';
       const messages = [{ role: 'user', content: 'Say hello' }];
       const stream = await new OpenAI().chat.completions.create({ model: 'gpt-4.1', messages, stream: true });
       for await (const { choices } of stream) process.stdout.write(choices[0]?.delta?.content ?? '');`,
      'gpt-4.1',
    ],
    [
      '@anthropic-ai/sdk',
      'ANTHROPIC_API_KEY',
      `
       import Anthropic from '@anthropic-ai/sdk';
       const messages = [{ role: 'user', content: 'Say hello' }];
       const { content } = await new Anthropic().messages.create({ model: 'claude-opus-4-5', max_tokens: 64, messages });
       process.stdout.write(content[0].text);`,
      'claude-opus-4-5',
    ],
  ])('the official %s package works with only the printed variables', async (_name, key, program, model) => {
    const lines = [...commandsIn(vitrine.running.stdout, 'export'), `export ${key}=sk-demo-0123456789`];
    const said = await paste(`${lines.join('\n')}\n${process.execPath} --input-type=module -e "${program}"`);
    expect(said.length).toBeGreaterThan(3);
    const [newest] = await waitUntil(async () => (await listed(1)).some((item) => item.model === model) && listed(1), {
      what: `a trace of ${model}`,
    });
    expect(newest).toMatchObject({ model, outcome: 'completed', response_status: 200 });
  });
});

describe('the command line', () => {
  test('--help shows the options and ends with 0', async () => {
    await using running = npmStart(['--help'], {});
    expect(await running.end(END_MS)).toEqual({ code: 0, signal: null });
    for (const word of ['usage:', '--demo', '--config', '--help', '--version', 'SVC_SERVER_PORT', 'VITRINE_DATA_DIR'])
      expect(running.stdout).toContain(word);
  });

  test.each(['--version', '-v'])('%s prints the version and ends with 0', async (option) => {
    await using running = npmStart([option], {});
    expect(await running.end(END_MS)).toEqual({ code: 0, signal: null });
    expect(running.stdout).toMatch(/\n\d+\.\d+\.\d+\n$/);
  });

  test.each([[['--config', 'a.yaml', '--config', 'b.yaml']], [['--config', '']]])('%j is a usage error', async (args) => {
    await using running = npmStart(args, {});
    expect(await running.end(END_MS)).toEqual({ code: 2, signal: null });
    expect(running.stderr).toContain('--config');
    expect(running.stderr).toContain('usage:');
  });

  test.each([['--dmeo'], ['serve'], ['--config']])(
    '%s is a usage error: it is named, with the help, and ends with 2',
    async (option) => {
      await using running = npmStart([option], {});
      expect(await running.end(END_MS)).toEqual({ code: 2, signal: null });
      expect(running.stderr).toContain(option);
      expect(running.stderr).toContain('usage:');
      expect(running.stdout).not.toContain('Vitrine is running');
    },
  );
});
