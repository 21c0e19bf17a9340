import type { Queryable } from '@vitrine/postgres/connection';
import { addToCorpus, type CorpusEntry } from './add-to-corpus.ts';
import { canonicalDomain } from '../canonical-domain.ts';

/** Maximum domains of one statement, which is one transaction. */
const BATCH = 1_000;

export interface BadLine {
  readonly line: number;
  readonly reason: string;
}

interface CorpusImport {
  /** The text of the file. */
  readonly chunks: AsyncIterable<string>;
  /** Whether unreadable lines are skipped. Otherwise the import ends before the first of them. */
  readonly keepGoing: boolean;
  readonly onBadLine: (line: BadLine) => void;
  /** Called with the number of lines done. */
  readonly onProgress: (lines: number) => void;
  readonly nowMs: () => number;
  readonly random: (bytes: number) => Uint8Array;
}

interface CorpusImportResult {
  readonly lines: number;
  readonly added: number;
  readonly ranked: number;
  readonly bad: number;
}

/** Imports a list of domains, as a stream and in batches; the file can be imported again after an error. A domain that occurs twice gets the rank
 *  of its last line. */
export async function importCorpus(database: Queryable, options: CorpusImport): Promise<CorpusImportResult> {
  const { chunks, keepGoing, onBadLine, onProgress, nowMs, random } = options;
  const result = { lines: 0, added: 0, ranked: 0, bad: 0 };
  const batch = new Map<string, CorpusEntry>();
  const flush = async () => {
    if (batch.size === 0) return;
    const { added, ranked } = await addToCorpus(database, [...batch.values()], nowMs(), random);
    result.added += added;
    result.ranked += ranked;
    batch.clear();
    onProgress(result.lines);
  };
  for await (const line of linesOf(chunks)) {
    const parsed = parseCorpusLine(line);
    result.lines += 1;
    if (parsed.kind === 'invalid') {
      result.bad += 1;
      onBadLine(parsed);
      if (!keepGoing) break;
    }
    if (parsed.kind === 'entry') batch.set(parsed.entry.domain, parsed.entry);
    if (batch.size >= BATCH) await flush();
  }
  await flush();
  return result;
}

const MAX_RANK = 2_147_483_647;
/** A longer line cannot be a domain with a rank. No more of it is kept. */
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

/** Reads `domain,rank` or `domain`; the first line may be a header. */
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

/** The lines of a chunked text. Only the beginning of a too long line is kept. */
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
