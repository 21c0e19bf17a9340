import { canonicalDomain } from '../canonical-domain.ts';
import type { CorpusEntry } from './add-to-corpus.ts';

const MAX_RANK = 2_147_483_647;
/** A longer line is no domain and rank; no more of it is kept. */
const MAX_LINE_CHARACTERS = 1_000;

interface CorpusLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

type ParsedCorpusLine =
  | { readonly kind: 'entry'; readonly entry: CorpusEntry }
  | { readonly kind: 'empty' }
  | { readonly kind: 'invalid'; readonly line: number; readonly reason: string };

/** Reads `domain,rank` or `domain`; the first line may be the heads of the columns. */
export function parseCorpusLine({ number, text }: CorpusLine): ParsedCorpusLine {
  const line = text.trim();
  if (line === '' || (number === 1 && /^\uFEFF?domain(?:,rank)?$/i.test(line))) return { kind: 'empty' };
  const invalid = (reason: string): ParsedCorpusLine => ({ kind: 'invalid', line: number, reason });
  if (line.length > MAX_LINE_CHARACTERS) return invalid(`must have at most ${MAX_LINE_CHARACTERS} characters`);
  const [host = '', rankText, ...others] = line.replace(/^\uFEFF/, '').split(',');
  if (others.length > 0) return invalid('must be domain,rank');
  const domain = canonicalDomain(host);
  if (domain === undefined) return invalid('domain must be a host name or URL with a public registrable domain');
  const rank = rankText === undefined || rankText.trim() === '' ? null : Number(rankText.trim());
  if (rank !== null && !(/^\d{1,10}$/.test(rankText?.trim() ?? '') && rank >= 1 && rank <= MAX_RANK))
    return invalid(`rank must be a whole number from 1 to ${MAX_RANK}`);
  return { kind: 'entry', entry: { domain, rank } };
}

/** The lines of a text that comes in chunks; of a line that is too long only its beginning is kept. */
export async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<CorpusLine> {
  let number = 1;
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_CHARACTERS + 2);
    for (const text of lines) {
      yield { number, text };
      number += 1;
    }
  }
  if (rest !== '') yield { number, text: rest };
}
