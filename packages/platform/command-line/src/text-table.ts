/** Rows as aligned columns below their heads. Cells may come from clients: control characters, which could move a terminal's cursor,
 *  are shown as `?`. */
export function textTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, ...rows].map((cells) => cells.map((cell) => cell.replace(/\p{C}/gu, '?')));
  const widths = heads.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const pad = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return lines.map((cells) => `${pad(cells).trimEnd()}\n`).join('');
}
