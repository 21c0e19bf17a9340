import { messageOf } from './fault.ts';

const MAX_LINES = 20;
/** Where errors keep others: causes, what a failed disposal hid, and what failed together. */
const LINKS = ['cause', 'error', 'suppressed', 'errors'] as const;

/** An error and everything that led to it, one line each, the cause of a line below it; at most 20 lines. */
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
