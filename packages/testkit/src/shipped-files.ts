import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** One sentence for each file that does not match its line in `sums`, a list as `sha256sum` writes it, with paths relative to its folder.
 *  With GOLDEN=write, files without a line get one; no line is ever changed. `remedy` completes the sentence about a changed file. */
export function changedFiles(sums: string, files: readonly string[], remedy: string): string[] {
  const known = readSums(sums);
  const missing = [...known.keys()]
    .filter((file) => !files.includes(file))
    .map((file) => `${file} is in ${sums} and does not exist: restore it`);
  return [...missing, ...files.flatMap((file) => problemOf(file, known.get(file), sums, remedy))];
}

function problemOf(file: string, expected: string | undefined, sums: string, remedy: string): string[] {
  const found = createHash('sha256')
    .update(readFileSync(join(dirname(sums), file)))
    .digest('hex');
  if (found === expected) return [];
  if (expected !== undefined)
    return [
      `${file} has changed since it was added to ${sums}: restore it, and ${remedy}. ` +
        'If no release has the file yet, delete its line there and run npm run golden',
    ];
  if (process.env['GOLDEN'] !== 'write') return [`${file} is not in ${sums}: run npm run golden`];
  appendFileSync(sums, `${found}  ${file}\n`);
  return [];
}

function readSums(sums: string): Map<string, string> {
  const lines = existsSync(sums) ? readFileSync(sums, 'utf8').split('\n').filter(Boolean) : [];
  return new Map(
    lines.map((line) => {
      const [hash = '', file = ''] = line.split('  ');
      return [file, hash];
    }),
  );
}
