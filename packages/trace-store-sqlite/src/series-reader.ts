import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { seriesSegmentOf, type SeriesRequest, type SeriesSegment } from '@vitrine/traces/series-text';
import { ANSWER_ROWS_MAX } from './group-sums.ts';
import type { JournalReader } from './journal-reader.ts';
import { LruCache } from './lru-cache.ts';
import type { ReadDictionary } from './read-dictionary.ts';
import { ALL_TENANTS, LEVELS } from './rollup-levels.ts';
import type { RollupReader } from './rollup-reader.ts';
import { settledParts } from './settled-parts.ts';

/** Four answers of a month by model and hour. */
const KEPT_MAX_BYTES = 16 * 2 ** 20;

/** Answers series. Of thirty thousand items almost all are settled: they follow from roll-ups alone, which change only when the journal
 *  is added to them or days of them are removed. Until then their text is kept: that saves three quarters of an answer's time. */
export class SeriesReader {
  readonly #dictionary: ReadDictionary;
  readonly #journal: JournalReader;
  readonly #rollups: RollupReader;
  readonly #firstRollup: StatementSync;
  readonly #kept = new LruCache(KEPT_MAX_BYTES);

  constructor(database: DatabaseSync, dictionary: ReadDictionary, journal: JournalReader, rollups: RollupReader) {
    this.#dictionary = dictionary;
    this.#journal = journal;
    this.#rollups = rollups;
    this.#firstRollup = database.prepare('SELECT min(start) AS start FROM rollups WHERE level = ? AND tenant = ?');
  }

  /** The pieces of a series; undefined when they have too many items. To be called in a transaction. */
  pieces(asked: SeriesRequest): SeriesSegment[] | undefined {
    const { from, to, bucket } = asked;
    const parts = settledParts(from, to, bucket, this.#journal.earliest(from));
    const pieces = parts.map(({ isSettled, ...range }) =>
      isSettled ? this.#settled({ ...asked, ...range }) : this.#make({ ...asked, ...range }),
    );
    const made = pieces.filter((piece) => piece !== undefined);
    const items = made.reduce((sum, piece) => sum + piece.items, 0);
    return made.length < pieces.length || items > ANSWER_ROWS_MAX ? undefined : made;
  }

  #settled(asked: SeriesRequest): SeriesSegment | undefined {
    const { endpoint, groupBy, bucket, provider, model, from, to } = asked;
    const tenant = asked.tenant === undefined ? ALL_TENANTS : this.#dictionary.tenant(asked.tenant);
    if (tenant === undefined) return this.#make(asked);
    // Adding the journal gives it another first entry, and removal goes by days, the first ones first.
    const state = [this.#journal.addedBatch(), this.#firstRollup.get(LEVELS.modelHour, tenant)?.['start']];
    const key = JSON.stringify([...state, endpoint, groupBy, bucket, provider, model, tenant, from, to]);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const made = this.#make(asked);
    if (made !== undefined) this.#kept.add(key, made);
    return made;
  }

  #make(asked: SeriesRequest): SeriesSegment | undefined {
    const { endpoint: _, ...question } = asked;
    const measures = this.#rollups.measure({ ...question, usageOnly: true });
    return measures && seriesSegmentOf(asked, measures);
  }
}
