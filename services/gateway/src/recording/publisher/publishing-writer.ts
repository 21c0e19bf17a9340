import { recordBytes, type KafkaRecord } from '@vitrine/kafka/kafka-record';
import type { WriteResult } from '@vitrine/kafka/spooling-publisher';
import type { RecordFailure, RecordResult, RecordWriter } from '@vitrine/traces/record-writer';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { publishedRecord, withoutBodies } from './published-record.ts';

/** Why a trace was not published: the class for the diagnostics, and the text for the log. */
const FAILURES: Readonly<
  Record<Exclude<WriteResult, 'published' | 'spooled'>, readonly [RecordFailure['error_class'], string, string]>
> = {
  spool_full: ['connection', 'spool_full', 'no broker accepts records, and the spool is full'],
  spool_failed: ['unknown', 'spool_failed', 'no broker accepts records, and the spool cannot be written'],
  too_large: ['constraint', 'record_too_large', 'the record is too large for the topic without its bodies'],
};

interface PublishingWriterOptions {
  readonly publish: (records: readonly KafkaRecord[]) => Promise<readonly WriteResult[]>;
  readonly maxRecordBytes: number;
}

/** Publishes records. A record is kept when a broker or the spool has accepted it. A record that is too large is published without its bodies. */
export class PublishingWriter implements RecordWriter {
  readonly #options: PublishingWriterOptions;
  #withoutBodies = 0;

  constructor(options: PublishingWriterOptions) {
    this.#options = options;
  }

  /** Records that lost their bodies. */
  get withoutBodies(): number {
    return this.#withoutBodies;
  }

  async write(records: readonly TraceRecord[]): Promise<RecordResult[]> {
    return (await this.#publish(records)).map(resultOf);
  }

  async #publish(traces: readonly TraceRecord[]): Promise<readonly WriteResult[]> {
    const { publish, maxRecordBytes } = this.#options;
    // Checked here and not only by the publisher, because the spool accepts records of any size and would fail only when it is drained.
    const records = traces.map((trace) => {
      const record = publishedRecord(trace);
      return recordBytes(record) > maxRecordBytes ? this.#smaller(trace) : record;
    });
    const fitting = records.filter((record) => record !== undefined);
    const results = (await publish(fitting)).values();
    const first = records.map((record): WriteResult =>
      record === undefined ? 'too_large' : (results.next().value ?? 'spool_failed'),
    );
    // The topic may have a lower limit than the configuration.
    const again = traces.flatMap((trace, at) => {
      const smaller = first[at] === 'too_large' && records[at] !== undefined ? this.#smaller(trace) : undefined;
      return smaller === undefined ? [] : [{ at, smaller }];
    });
    if (again.length === 0) return first;
    const second = await publish(again.map(({ smaller }) => smaller));
    return first.map((result, at) => second[again.findIndex((one) => one.at === at)] ?? result);
  }

  /** Undefined when it is still too large without its bodies. */
  #smaller(trace: TraceRecord): KafkaRecord | undefined {
    const small = withoutBodies(trace);
    if (small === undefined) return undefined;
    const record = publishedRecord(small);
    if (recordBytes(record) > this.#options.maxRecordBytes) return undefined;
    this.#withoutBodies += 1;
    return record;
  }
}

function resultOf(result: WriteResult): RecordResult {
  if (result === 'published' || result === 'spooled') return 'written';
  const [error_class, code, message] = FAILURES[result];
  return { operation: 'write_trace', error_class, error: { name: 'Error', code, message } };
}
