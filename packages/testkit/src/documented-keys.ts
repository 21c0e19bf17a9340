import { leavesOf, variableName } from '@vitrine/config/leaves';
import { readFileSync } from 'node:fs';

interface Names {
  readonly keys: readonly string[];
  readonly variables: readonly string[];
}

/** The keys and variables of a configuration, and those of the tables below a page's heading Configuration, sorted. The page is complete
 *  when they are equal. Keys of `observability` are separate, because one table lists them for all services.
 *  @param yamlOnly - lists whose items are objects, which no variable can set. */
export function documentedKeys(
  page: URL,
  prefix: string,
  schema: Parameters<typeof leavesOf>[0],
  yamlOnly: readonly string[] = [],
): Readonly<Record<'known' | 'documented', Names>> {
  const keys = leavesOf(schema)
    .map(({ path }) => path.join('.'))
    .filter((key) => !key.startsWith('observability.'));
  const set = keys.filter((key) => !yamlOnly.includes(key));
  const section = readFileSync(page, 'utf8').split('## Configuration\n')[1]?.split('\n## ')[0] ?? '';
  const inColumn = (column: number, pattern: RegExp) =>
    section
      .split('\n')
      .flatMap((row) => [...(row.split('|')[column] ?? '').matchAll(pattern)].map(([, name = '']) => name))
      .filter((name) => !name.startsWith('observability'))
      .toSorted();
  return {
    known: { keys: keys.toSorted(), variables: set.map((key) => variableName(prefix, key.split('.'))).toSorted() },
    documented: { keys: inColumn(1, /`([a-z]\w*(?:\.\w+)*)`/g), variables: inColumn(2, /`(\w+)`/g) },
  };
}
