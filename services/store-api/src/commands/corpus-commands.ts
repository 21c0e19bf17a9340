import { publicUrlsOf } from '@vitrine/stores/profile/render-profile';
import { command, switchOption } from '@vitrine/command-line/command';
import { createProgress } from '@vitrine/command-line/progress';
import { formatResult } from '@vitrine/command-line/print-result';
import { Fault, messageOf } from '@vitrine/faults/fault';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { importCorpus, type BadLine } from '@vitrine/stores/corpus/import-corpus';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { countProfiles, renderProfiles } from '@vitrine/stores/commit/render-profiles';
import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { OUTPUT_OPTIONS, withStores } from './with-stores.ts';

/** Maximum number of invalid lines printed. */
const SHOWN_LINES = 20;
const CHUNK_BYTES = 65_536;

export const technologiesImport = command({
  name: 'technologies import',
  summary: 'Writes the vocabulary of this version to the database; the service does so when it starts.',
  options: OUTPUT_OPTIONS,
  help: 'Entries are added and updated, never removed: customers store slugs.',
  examples: ['technologies import'],
  run: ({ values }, context) =>
    withStores(values.config, context, async ({ pool }) => {
      const changed = await importVocabulary(pool, VOCABULARY);
      const result = { technologies: VOCABULARY.length, changed };
      const text = () => `${VOCABULARY.length} technologies; ${changed} were new or differed.\n`;
      context.stdout.write(formatResult(values.format, result, text));
    }),
});

export const profilesRender = command({
  name: 'profiles render',
  summary: 'Renders all stored profiles again, after public URLs or names have changed.',
  options: OUTPUT_OPTIONS,
  help: 'The service may be running. Profiles that do not change keep their ETag.',
  examples: ['profiles render'],
  run: ({ values }, context) =>
    withStores(values.config, context, async ({ config, pool }) => {
      const total = await countProfiles(pool);
      const progress = createProgress({ total, items: 'profiles', stderr: context.stderr });
      const rendered = await renderProfiles(pool, publicUrlsOf(config.public), progress);
      context.stdout.write(formatResult(values.format, { rendered }, () => `${rendered} profiles were rendered.\n`));
    }),
});

export const corpusImport = command({
  name: 'corpus import',
  summary: 'Adds the domains of a CSV file to the corpus and sets their ranks.',
  argument: 'FILE',
  options: {
    'keep-going': switchOption('pass over lines that cannot be read, instead of ending before the first'),
    ...OUTPUT_OPTIONS,
  },
  help: `Each line is domain,rank or domain; the first may have the names of the columns. A domain that occurs twice gets the rank of its last
line. The file may be imported again. Lines that cannot be read are printed by number, and the exit code is 1.`,
  examples: ['corpus import domains.csv', 'corpus import domains.csv --keep-going --format json'],
  run: ({ values, positionals: [path = ''] }, context) =>
    withStores(values.config, context, async ({ pool, now }) => {
      await using file = await open(path).catch((cause: unknown) => {
        throw new Fault('corpus_unreadable', { say: `${path} cannot be read: ${messageOf(cause)}`, cause });
      });
      const stream = file.createReadStream({ encoding: 'utf8', highWaterMark: CHUNK_BYTES, autoClose: false });
      const { size: total } = await file.stat();
      const print = (line: string) => context.stderr.write(line);
      const progress = createProgress({ total, items: 'bytes', stderr: context.stderr });
      const badLines: BadLine[] = [];
      const result = await importCorpus(pool, {
        chunks: readable(stream, path),
        keepGoing: values['keep-going'] === true,
        onBadLine: ({ line, reason }) => {
          if (badLines.length < SHOWN_LINES) badLines.push({ line, reason });
        },
        onProgress: () => progress(stream.bytesRead),
        nowMs: () => now,
        random: randomBytes,
      });
      const { lines, added, ranked, bad } = result;
      for (const { line, reason } of badLines) print(`${path}:${line}: ${reason}\n`);
      if (bad > badLines.length) print(`${bad - badLines.length} further lines cannot be read.\n`);
      const ended = bad > 0 && values['keep-going'] !== true ? ` Stopped at line ${lines}; fix it, or use --keep-going.` : '';
      const text = () =>
        `${lines} lines: ${added} domains were added, ${ranked} ranks changed, ${bad} lines were not read.${ended}\n`;
      context.stdout.write(formatResult(values.format, { ...result, bad_lines: badLines }, text));
      return bad > 0 ? 1 : 0;
    }),
});

/** Faults: `corpus_unreadable`. */
async function* readable(stream: AsyncIterable<string>, path: string): AsyncGenerator<string> {
  try {
    yield* stream;
  } catch (cause) {
    throw new Fault('corpus_unreadable', { say: `${path} cannot be read: ${messageOf(cause)}`, cause });
  }
}
