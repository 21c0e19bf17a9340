import { makeFolder } from '@vitrine/sqlite/make-folder';
import { lockFile } from '@vitrine/sqlite/file-lock';
import { open, readdir, readFile, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { KafkaRecord } from '../kafka-record.ts';
import { decodeFrames, encodeFrame } from './record-frames.ts';

const SEGMENT_BYTES = 4_194_304;
const PRIVATE_FILE = 0o600;
const SEGMENT_NAME = /^(\d{16})\.segment$/;

interface SpoolOptions {
  /** A folder used by one process only. */
  readonly path: string;
  /** Of all files together. */
  readonly maxBytes: number;
  /** A new file is started when one has reached this size. Files are read whole. */
  readonly segmentBytes?: number;
}

export type SpoolResult = 'spooled' | 'spool_full' | 'spool_failed';

interface Segment {
  readonly file: string;
  bytes: number;
  records: number;
}

/** The records of the oldest file. */
interface OldestSegment {
  readonly records: readonly KafkaRecord[];
  /** Deletes the file. */
  remove(): Promise<void>;
}

/** Records on disk in append-only files, first in, first out, with a bound in bytes. Spooled records survive `kill -9`. Files are synced when they are
 *  full and at the end, so a power loss may destroy the newest file. Not safe for concurrent calls; `SpoolingPublisher` serializes them.
 *  Faults on opening: `storage_locked`, `storage_unusable`; system errors of the folder. */
export class DiskSpool implements AsyncDisposable {
  readonly #options: Required<SpoolOptions>;
  readonly #lock: Disposable;
  readonly #segments: Segment[] = [];
  #active: { readonly segment: Segment; readonly handle: FileHandle } | undefined;
  #nextNumber = 1;
  #damaged = 0;
  #isClosed = false;

  private constructor(options: Required<SpoolOptions>, lock: Disposable) {
    this.#options = options;
    this.#lock = lock;
  }

  static async open({ segmentBytes = SEGMENT_BYTES, ...options }: SpoolOptions): Promise<DiskSpool> {
    makeFolder(options.path);
    const lock = lockFile(join(options.path, 'spool'));
    try {
      const spool = new DiskSpool({ ...options, segmentBytes }, lock);
      await spool.#readFolder();
      return spool;
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
  }

  get records(): number {
    return this.#segments.reduce((sum, { records }) => sum + records, 0);
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get files(): number {
    return this.#segments.length;
  }

  /** Records found damaged, or torn by a crash of the previous process. */
  get damaged(): number {
    return this.#damaged;
  }

  /** The results are in the order of the records. Never rejects: a disk error returns `spool_failed` and calls `onError`. */
  async append(records: readonly KafkaRecord[], onError: (error: unknown) => void): Promise<readonly SpoolResult[]> {
    const results: SpoolResult[] = [];
    let frames: Buffer[] = [];
    let bytes = 0;
    const room = this.#options.maxBytes - this.bytes;
    for (const record of records) {
      const frame = encodeFrame(record);
      const fits = bytes + frame.length <= room;
      results.push(fits ? 'spooled' : 'spool_full');
      if (!fits) continue;
      frames.push(frame);
      bytes += frame.length;
    }
    if (frames.length === 0) return results;
    try {
      await this.#write(Buffer.concat(frames), frames.length);
      return results;
    } catch (error) {
      onError(error);
      return results.map((result) => (result === 'spooled' ? 'spool_failed' : result));
    }
  }

  /** Undefined when there is none. Later records are appended to another file. */
  async oldest(): Promise<OldestSegment | undefined> {
    const [segment] = this.#segments;
    if (segment === undefined) return undefined;
    if (segment === this.#active?.segment) await this.#seal();
    const { records } = decodeFrames(await readFile(segment.file));
    return {
      records,
      remove: async () => {
        // Done first, so that only the next process publishes a file again that cannot be deleted.
        const at = this.#segments.indexOf(segment);
        if (at !== -1) this.#segments.splice(at, 1);
        await rm(segment.file, { force: true });
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.#seal();
    } finally {
      this.#lock[Symbol.dispose]();
    }
  }

  async #readFolder(): Promise<void> {
    const names = (await readdir(this.#options.path)).filter((name) => SEGMENT_NAME.test(name)).toSorted();
    for (const name of names) {
      const file = join(this.#options.path, name);
      const { records, damaged } = decodeFrames(await readFile(file));
      this.#damaged += damaged;
      this.#nextNumber = Number(name.slice(0, 16)) + 1;
      if (records.length === 0) await rm(file);
      else this.#segments.push({ file, bytes: (await stat(file)).size, records: records.length });
    }
  }

  /** Writes at a position, so that the next write overwrites a partially failed one. */
  async #write(bytes: Buffer, records: number): Promise<void> {
    this.#active ??= await this.#create();
    const { segment, handle } = this.#active;
    let written = 0;
    while (written < bytes.length) {
      written += (await handle.write(bytes, written, bytes.length - written, segment.bytes + written)).bytesWritten;
    }
    if (segment.records === 0) this.#segments.push(segment);
    segment.bytes += bytes.length;
    segment.records += records;
    if (segment.bytes >= this.#options.segmentBytes) await this.#seal();
  }

  async #create() {
    const file = join(this.#options.path, `${String(this.#nextNumber).padStart(16, '0')}.segment`);
    const handle = await open(file, 'wx', PRIVATE_FILE);
    this.#nextNumber += 1;
    return { segment: { file, bytes: 0, records: 0 }, handle };
  }

  /** Truncates everything after the last complete write, because it belongs to a failed write. */
  async #seal(): Promise<void> {
    if (this.#active === undefined) return;
    const { segment, handle } = this.#active;
    this.#active = undefined;
    try {
      await handle.truncate(segment.bytes);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }
}
