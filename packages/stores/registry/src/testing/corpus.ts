import { readFileSync, readdirSync } from 'node:fs';
import type { StoreEvidence } from '../evidence/evidence.ts';
import { extractPageEvidence } from '../evidence/extract-page-evidence.ts';

const FOLDER = new URL('../testdata/', import.meta.url);

/** Kinds of source. `captured`: reconstructed from a published page of a live site, which is named. `template`: from a public theme or code, or
 *  from parts of several files. `documentation`: from install instructions of vendors. `own`: from the author's knowledge of such pages. */
export const SOURCE_KINDS = ['captured', 'template', 'documentation', 'own'] as const;

/** A page of the corpus with its manual labels. */
export interface LabelledPage {
  readonly name: string;
  readonly kind: string;
  /** The source of the markup. For pages by independent authors, who had not seen the rules, it begins with its kind. */
  readonly source: string;
  readonly html: string;
  readonly evidence: StoreEvidence;
  /** Install state by slug. */
  readonly expected: ReadonlyMap<string, 'active' | 'configured'>;
  /** Technologies that may or may not be reported. */
  readonly optional: ReadonlySet<string>;
}

export function sourceKindOf({ source }: LabelledPage): (typeof SOURCE_KINDS)[number] | undefined {
  return SOURCE_KINDS.find((kind) => source.startsWith(`${kind}: `));
}

/** @param folder - below testdata: `*.txt` with pages, and `labels.txt`. */
export function readCorpus(folder: string): LabelledPage[] {
  const url = new URL(`${folder}/`, FOLDER);
  const labels = readLabels(readFileSync(new URL('labels.txt', url), 'utf8'));
  const files = readdirSync(url).filter((name) => name !== 'labels.txt');
  return files.toSorted().flatMap((name) => readPages(readFileSync(new URL(name, url), 'utf8'), labels));
}

function readLabels(text: string): Map<string, string[]> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')),
      line
        .slice(line.indexOf(':') + 1)
        .trim()
        .split(/\s+/),
    ]),
  );
}

function readPages(text: string, labels: ReadonlyMap<string, readonly string[]>): LabelledPage[] {
  const pages = text.split(/^=== /m).slice(1);
  return pages.map((page) => {
    const [head = '', ...lines] = page.split('\n');
    const [name = '', kind = '', source = ''] = head.split(' | ');
    const markup = lines.findIndex((line) => !line.startsWith('> '));
    const html = lines.slice(markup).join('\n');
    const label = (labels.get(name) ?? []).filter((word) => word !== '');
    return {
      name,
      kind,
      source,
      html,
      evidence: { version: 1, pages: [pageOf(html, lines.slice(0, markup))], endpoints: {} },
      expected: new Map(label.filter((word) => !word.startsWith('?')).map((word) => [word.split(':')[0] ?? '', word.endsWith(':configured') ? 'configured' : 'active'])), // prettier-ignore
      optional: new Set(label.filter((word) => word.startsWith('?')).map((word) => word.slice(1))),
    };
  });
}

function pageOf(html: string, lines: readonly string[]): StoreEvidence['pages'][number] {
  const fields = lines.map((line) => [line.slice(2, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const);
  return extractPageEvidence({
    html: `<!doctype html><html><head><title>Shop</title>${html}</head></html>`,
    url: fields.find(([name]) => name === 'url')?.[1] ?? 'https://shop.test/',
    pageClass: 'home',
    headers: Object.fromEntries(fields.filter(([name]) => name !== 'cookie' && name !== 'url')),
    // `name`, or `name=value` as sent by servers.
    cookies: fields.filter(([name]) => name === 'cookie').map(([, cookie]) => cookie.split('=', 1)[0] ?? ''),
  });
}
