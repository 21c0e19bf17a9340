import type { BenchRow } from './bench.ts';

/** The rows as text: a block per case, a line per subject, a column per figure, the ratio in brackets. */
export function renderTable(rows: readonly BenchRow[]): string {
  return [...Map.groupBy(rows, (row) => row.case)].map(([name, ofCase]) => renderCase(name, ofCase)).join('\n\n');
}

function renderCase(name: string, rows: readonly BenchRow[]): string {
  const figures = new Map(rows.map((row) => [figureOf(row), row.unit]));
  const head = [name, ...[...figures].map(([figure, unit]) => (figure.endsWith(unit) ? figure : `${figure} ${unit}`))];
  const lines = [...Map.groupBy(rows, subjectOf)].map(([subject, ofSubject]) => {
    const cells = new Map(ofSubject.map((row) => [figureOf(row), cell(row)]));
    return [subject, ...[...figures.keys()].map((figure) => cells.get(figure) ?? '')];
  });
  return align([head, ...lines]);
}

const subjectOf = (row: BenchRow) => row.metric.slice(0, row.metric.lastIndexOf('.'));
const figureOf = (row: BenchRow) => row.metric.slice(row.metric.lastIndexOf('.') + 1);

function cell(row: BenchRow): string {
  const digits = Math.abs(row.value) >= 100 || Number.isInteger(row.value) ? 0 : Math.abs(row.value) >= 10 ? 1 : 3;
  const value = row.value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return row.ratio === undefined ? value : `${value} (${ratioText(row.ratio)})`;
}

/** A ratio that is nearly 1 but not 1 keeps its digits: "1.00" would not show one lost row in a million. */
function ratioText(ratio: number): string {
  if (ratio !== 1 && Math.abs(ratio - 1) < 0.001) return ratio.toFixed(7);
  return ratio.toFixed(2);
}

function align(table: readonly (readonly string[])[]): string {
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  return table
    .map((line) =>
      line.map((text, column) => (column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0))).join('  '),
    )
    .join('\n');
}
