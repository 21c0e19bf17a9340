import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../running-process.ts';

/** The commands of a section of a page: its blocks of `sh`, in their order. */
export async function documentedCommands(page: string, heading: string): Promise<string> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const [, section] = text.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`${page} has no section "${heading}"`);
  const [own = ''] = section.split('\n## ');
  const blocks = [...own.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands = '']) => commands);
  if (blocks.length === 0) throw new Error(`${page}, "${heading}" has no block of sh`);
  return blocks.join('\n');
}
