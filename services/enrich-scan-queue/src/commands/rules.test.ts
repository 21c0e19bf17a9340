import { describe, expect, test } from '@jest/globals';
import type { CommandContext } from '@vitrine/command-line/command';
import { extractPageEvidence } from '@vitrine/registry/evidence/extract-page-evidence';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rulesExplain, rulesList, rulesShow } from './rules.ts';

const PAGE = `<script src="https://js.stripe.com/v3/"></script><link rel="preconnect" href="https://cdn.judge.me">
<script>Shopify.theme = {"schema_name":"Dawn","role":"main"};</script>`;

interface Output {
  readonly code: number;
  readonly text: string;
}

async function outputOf(run: (context: CommandContext) => Promise<number>): Promise<Output> {
  const written: string[] = [];
  const stream = { write: (text: string) => void written.push(text) };
  const unused = () => Promise.reject(new Error('not used'));
  const code = await run({
    env: {},
    stdout: stream,
    stderr: stream,
    untilSignal: unused,
    handleUncaught: () => {},
    runChild: unused,
  });
  return { code, text: written.join('') };
}

async function explained(text: string, values: { format?: string; technology?: string }): Promise<Output> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'rules-'));
  const file = join(folder.path, 'file');
  await writeFile(file, text);
  return await outputOf((context) => rulesExplain.run({ values, positionals: [file] }, context));
}

describe('rules', () => {
  test('list prints every technology with its number of rules', async () => {
    const { code, text } = await outputOf((context) => rulesList.run({ values: {}, positionals: [] }, context));
    expect(code).toBe(0);
    expect(text.trim().split('\n')).toHaveLength(VOCABULARY.length + 1);
  });

  test('show prints the rules of one technology and rejects an unknown slug', async () => {
    const { text } = await outputOf((context) => rulesShow.run({ values: {}, positionals: ['stripe'] }, context));
    expect(text).toMatch(/^Stripe \(service, payments\)\n[\s\S]*loads +js\.stripe\.com\n/);
    const unknown = outputOf((context) => rulesShow.run({ values: {}, positionals: ['strip'] }, context));
    await expect(unknown).rejects.toThrow('SLUG "strip" is not a technology');
  });

  test('explain shows which rules matched, where, and why a technology is withheld or not reported', async () => {
    const { code, text } = await explained(PAGE, {});
    expect(code).toBe(0);
    expect(text).toContain('stripe: medium active. 1 strong, 0 weak and 0 adding channels.');
    expect(text).toMatch(/home +host +strong +loads js\.stripe\.com +js\.stripe\.com\/v3\//);
    expect(text).toContain('judge-me: not reported.');
    expect(text).toContain('shopify-theme-dawn: withheld. Not judged: it is reported only together with shopify');
  });

  test('explain prints the same for evidence as for its page', async () => {
    const page = extractPageEvidence({ html: PAGE, url: 'https://shop.example/', pageClass: 'home' });
    const evidence = JSON.stringify({ version: 1, pages: [page], endpoints: {} });
    expect(await explained(evidence, { format: 'json' })).toEqual(await explained(PAGE, { format: 'json' }));
  });

  test('explain of a technology that did not match prints its rules and ends with 1', async () => {
    const { code, text } = await explained(PAGE, { technology: 'klaviyo' });
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/^No rule of klaviyo matched\. Looked for:[\s\S]*static\.klaviyo\.com/),
    ]);
  });

  test('explain rejects a missing file', async () => {
    const run = outputOf((context) => rulesExplain.run({ values: {}, positionals: ['/nowhere/page.html'] }, context));
    await expect(run).rejects.toThrow(/^FILE cannot be read: .*ENOENT/);
  });

  test.each([
    ['{"version":2}', 'FILE is not valid evidence: version must be 1; pages is required, and must be a list; endpoints is'],
    ['{broken', 'FILE is neither JSON nor HTML'],
  ])('explain rejects %s', async (text, message) => {
    await expect(explained(text, {})).rejects.toThrow(message);
  });
});
