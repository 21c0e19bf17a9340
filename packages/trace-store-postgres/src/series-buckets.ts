import { bucketsOf } from '@vitrine/traces/buckets-of';
import { MEASURES_MAX, tooManyGroups, type BucketMeasures, type MeasureQuery } from '@vitrine/traces/trace-measures';
import { usdPartsIn } from '@vitrine/traces/usd';
import { MeasureSums, RowNames, startOfRow, type MeasureRow } from './measure-sums.ts';
import { isGroupOfPacked } from './packed-groups.ts';

const NONE: readonly number[] = [];

/** Makes buckets of rows that are ordered by them. A bucket that is one row, as most are, has the arrays of that row. */
export class SeriesBuckets {
  readonly #query: MeasureQuery;
  readonly #names = new RowNames();
  #bucket: { readonly start: number; readonly row: MeasureRow; sums?: MeasureSums } | undefined;
  #length = 0;

  constructor(query: MeasureQuery) {
    this.#query = query;
  }

  /** Returns the bucket before that of the row, when it is complete. Faults: `too_many_groups`. */
  add(row: MeasureRow): BucketMeasures | undefined {
    const start = startOfRow(this.#query, row);
    const known = this.#bucket;
    if (known?.start === start) {
      known.sums ??= this.#sumsOf(known.row);
      known.sums.add(row);
      return undefined;
    }
    const complete = this.end();
    this.#bucket = this.#isEachGroupOnce(row) ? { start, row } : { start, row, sums: this.#sumsOf(row) };
    return complete;
  }

  /** Returns the last bucket, after all rows. Faults: `too_many_groups`. */
  end(): BucketMeasures | undefined {
    if (this.#bucket === undefined) return undefined;
    const { start, row, sums } = this.#bucket;
    this.#bucket = undefined;
    const [bucket] = sums === undefined ? [bucketOfRow(start, this.#names.of(row), row)] : bucketsOf(sums);
    if ((this.#length += bucket?.groups.length ?? 0) > MEASURES_MAX) throw tooManyGroups();
    return bucket;
  }

  /** Such a row has its groups in order. */
  #isEachGroupOnce({ is_packed: isPacked }: MeasureRow): boolean {
    return !isPacked || isGroupOfPacked(this.#query);
  }

  #sumsOf(row: MeasureRow): MeasureSums {
    const sums = new MeasureSums(this.#query);
    sums.add(row);
    return sums;
  }
}

function bucketOfRow(bucketStart: number, groups: readonly string[], row: MeasureRow): BucketMeasures {
  const costs = (row.cost_usd ?? []).map(usdPartsIn);
  return {
    bucketStart,
    groups,
    requests: row.requests,
    inputTokens: row.input_tokens ?? NONE,
    outputTokens: row.output_tokens ?? NONE,
    totalTokens: row.total_tokens ?? NONE,
    costThousands: costs.map(({ thousands }) => thousands),
    costPico: costs.map(({ pico }) => pico),
  };
}
