import { parseSync } from '@swc/core';
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const ROOT: string = join(import.meta.dirname, '../../../..');
const PRODUCTION = '{packages,services,operator,migrations}/**/src/**/*.ts';
const NOT_PRODUCTION = /\.test\.ts$|\/testing\/|\/node_modules\/|^packages\/testkit\//;
/** A pattern without one of these is bounded by its own length at each character. */
const QUANTIFIER = /[*+]|\{\d+,\d*\}/;

/** A regular expression in the code that is deployed. */
export interface ProductionPattern {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

/** Files that are deployed, from the root of the repository. */
export const productionFiles: readonly string[] = globSync(PRODUCTION, { cwd: ROOT })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !NOT_PRODUCTION.test(file))
  .toSorted();

const texts = new Map(productionFiles.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

/** Folders of workspaces by the names that imports have. */
const FOLDERS: ReadonlyMap<string, string> = new Map(
  globSync('{packages,services,operator,migrations}/**/package.json', { cwd: ROOT, exclude: ['**/node_modules/**'] }).map(
    (file) => {
      const { name } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as { readonly name: string };
      return [name, posix.dirname(file.replaceAll('\\', '/'))];
    },
  ),
);

/** All literals; found by a parser, because slashes also divide. */
export function literalPatterns(): ProductionPattern[] {
  return productionFiles.flatMap((file) => {
    const text = texts.get(file) ?? '';
    return text.includes('/') ? literalsIn(file, text) : [];
  });
}

/** Patterns that can match a text in more than one way. */
export function hasQuantifier({ source }: ProductionPattern): boolean {
  return QUANTIFIER.test(source);
}

/** Files that construct regular expressions from texts. */
export const filesWithConstructedPatterns: readonly string[] = productionFiles.filter((file) =>
  /new RegExp\(/.test(texts.get(file) ?? ''),
);

/** A file and all that it imports, of whatever package. */
export function importedBy(file: string): ReadonlySet<string> {
  const found = new Set([file]);
  for (const one of found)
    for (const [, specifier = ''] of (texts.get(one) ?? '').matchAll(/^(?:import|export)\b(?! type)[^']*'([^']+)'/gm)) {
      const target = targetOf(one, specifier);
      if (texts.has(target)) found.add(target);
    }
  return found;
}

function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(file), specifier);
  const [, name = '', path = ''] = /^(@vitrine\/[^/]+)\/(.+)$/.exec(specifier) ?? [];
  if (name === '') return '';
  const target = `${FOLDERS.get(name)}/src/${path}.ts`;
  if (!texts.has(target)) throw new Error(`${file} imports ${specifier}, which is not at ${target}`);
  return target;
}

function literalsIn(file: string, text: string): ProductionPattern[] {
  const found: ProductionPattern[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, pattern, flags } = node as { readonly type?: string; readonly pattern?: string; readonly flags?: string };
    if (type === 'RegExpLiteral' && pattern !== undefined) found.push({ file, source: pattern, flags: flags ?? '' });
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(text, { syntax: 'typescript' }).body);
  return found;
}
