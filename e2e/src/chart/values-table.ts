import { isMap, isScalar, parseDocument, type Pair, type YAMLMap } from 'yaml';

/** The values of a chart as sections of Markdown: a table for each map of the first level, made of the comments above the keys. */
export function valuesTable(valuesYaml: string): string {
  const root = parseDocument(valuesYaml).contents;
  if (!isMap(root)) throw new Error('the values are no map');
  const [single, maps] = [root.items.filter(({ value }) => !isMap(value)), root.items.filter(({ value }) => isMap(value))];
  const sections = maps.map((pair) => {
    const lines = rows(pair.value as YAMLMap, `${keyOf(pair)}.`);
    return [`## ${keyOf(pair)}`, '', ...about(commentOf(pair, root)), ...table(lines)].join('\n');
  });
  return [table(single.map((pair) => row(pair, root, ''))).join('\n'), ...sections].join('\n\n');
}

const table = (lines: readonly string[]) => ['| Value | Default | What it is |', '|---|---|---|', ...lines];
const about = (comment: string) => (comment === '' ? [] : [comment, '']);

function rows(map: YAMLMap, prefix: string): string[] {
  return map.items.flatMap((pair) => {
    const { value } = pair;
    if (!isMap(value) || value.items.length === 0 || !isDocumented(value)) return [row(pair, map, prefix)];
    const comment = commentOf(pair, map);
    const inner = rows(value, `${prefix}${keyOf(pair)}.`);
    return comment === '' ? inner : [`| \`${prefix}${keyOf(pair)}\` | | ${comment} |`, ...inner];
  });
}

/** Maps like `resources` are one value. */
function isDocumented(map: YAMLMap): boolean {
  return map.items.some((pair) => commentOf(pair, map) !== '');
}

function row(pair: Pair, parent: YAMLMap, prefix: string): string {
  const comment = commentOf(pair, parent);
  if (comment === '') throw new Error(`${prefix}${keyOf(pair)}: has no comment in values.yaml`);
  const value = pair.value as { toJSON(): unknown } | null;
  return `| \`${prefix}${keyOf(pair)}\` | \`${JSON.stringify(value?.toJSON() ?? null)}\` | ${comment} |`;
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : '';
}

/** The library gives the comment above the first key to the map. */
function commentOf(pair: Pair, parent: YAMLMap): string {
  const own = isScalar(pair.key) ? pair.key.commentBefore : undefined;
  const text = own ?? (parent.items[0] === pair ? parent.commentBefore : undefined) ?? '';
  // A paragraph above it describes the file.
  const paragraph = text.split(/\n *\n/).at(-1) ?? '';
  return paragraph
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .replaceAll('|', '\\|')
    .trim();
}
