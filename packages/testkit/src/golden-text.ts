import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The text of a golden file, to be compared with `text`, so that a failure shows the file as expected and the new text as received.
 *  With GOLDEN=write, as `npm run golden` sets it, the file is written first. A file that does not exist is ''. */
export function goldenText(file: string | URL, text: string): string {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  if (process.env['GOLDEN'] === 'write') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
