// A `WriterModule` that behaves as its options say.
import type { RecordResult } from '@vitrine/traces/record-writer';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import type { OpenRecordWriter } from '@vitrine/traces/writer-thread';

export interface FakeWriterOptions {
  readonly behaviour: keyof typeof BEHAVIOURS | 'does not open';
  /** One number: the records kept by all writers opened with it. */
  readonly kept: SharedArrayBuffer;
}

type Keep = () => RecordResult;
type Write = (records: readonly TraceRecord[], keep: Keep) => readonly RecordResult[] | Promise<readonly RecordResult[]>;

const keepAll = (records: readonly TraceRecord[], keep: Keep) => Array.from(records, keep);
const FAILED: RecordResult = {
  operation: 'write_batch_fallback',
  error_class: 'constraint',
  error: { name: 'Error', message: 'refused', code: '' },
};

const BEHAVIOURS = {
  'keeps all': keepAll,
  'keeps all later': async (records, keep) => {
    await new Promise(setImmediate);
    return keepAll(records, keep);
  },
  'keeps every second': (records, keep) => Array.from(records, (_, at) => (at % 2 === 0 ? keep() : FAILED)),
  'had them already': (records) => Array.from(records, () => 'already_there' as const),
  throws: () => {
    throw new TypeError('no function');
  },
  'throws when it has kept one': (records, keep) => {
    for (const _ of records) {
      keep();
      throw new Error('disk gone');
    }
    return [];
  },
  rejects: () => Promise.reject(Object.assign(new Error('no broker'), { code: 'ECONNREFUSED' })),
  'responds short': (records, keep) => keepAll(records, keep).slice(0, 1),
  'responds with nothing': () => undefined as unknown as RecordResult[],
  'responds with other words': (records) => Array.from(records, () => 'perhaps' as RecordResult),
  hangs: () => new Promise(() => {}),
  'ends its thread': () => {
    setImmediate(() => {
      throw new Error('out of memory');
    });
    return new Promise(() => {});
  },
} satisfies Record<string, Write>;

export function openRecordWriter(options: unknown): OpenRecordWriter {
  const { behaviour, kept } = options as FakeWriterOptions;
  if (behaviour === 'does not open') throw new Error('no such broker');
  const write: Write = BEHAVIOURS[behaviour];
  const keep = () => {
    Atomics.add(new Int32Array(kept), 0, 1);
    return 'written' as const;
  };
  return { write: (records) => write(records, keep), close: () => {} };
}
