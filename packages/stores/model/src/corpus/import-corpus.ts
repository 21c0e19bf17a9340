import type { Queryable } from '@vitrine/postgres/connection';
import { addToCorpus, type CorpusEntry } from './add-to-corpus.ts';
import { linesOf, parseCorpusLine } from './corpus-lines.ts';

/** Domains of one statement, which is one transaction. */
const BATCH = 1_000;

export interface BadLine {
  readonly line: number;
  readonly reason: string;
}

interface CorpusImport {
  /** The text of the file. */
  readonly chunks: AsyncIterable<string>;
  /** Whether lines that cannot be read are passed over; otherwise the import ends before the first of them. */
  readonly keepGoing: boolean;
  readonly onBadLine: (line: BadLine) => void;
  /** Called with the number of lines that are done. */
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

/** Imports a list of domains, as a stream and in batches; the file can be imported again after an error. A domain that stands there twice gets the
 *  rank of its last line. */
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
