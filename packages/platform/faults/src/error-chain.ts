import { messageOf } from './fault.ts';

const MAX_LINES = 20;
/** Properties in which errors reference other errors: causes, suppressed errors, and aggregates. */
const LINKS = ['cause', 'error', 'suppressed', 'errors'] as const;

/** An error and its causes, one line each, with each cause below its effect; at most 20 lines. */
export function errorChain(error: unknown): string {
  const seen = new Set<unknown>();
  const lines: string[] = [];
  const add = (one: unknown, indent: string) => {
    if (one === undefined || seen.has(one) || lines.length === MAX_LINES) return;
    seen.add(one);
    lines.push(`${indent}${nameOf(one)}${messageOf(one)}`);
    if (typeof one !== 'object' || one === null) return;
    for (const link of LINKS) for (const next of [(one as Record<string, unknown>)[link]].flat()) add(next, `${indent}  `);
  };
  add(error, '');
  return lines.join('\n');
}

function nameOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'name' in error ? `${String(error.name)}: ` : '';
}
