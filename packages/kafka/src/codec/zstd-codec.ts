import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
// Named imports of these are not found at run time: kafkajs assigns them in a way that Node cannot see.
import kafkajs from 'kafkajs';
import { RecordEncoder } from './record-encoder.ts';
import { placedRecords } from './record-placeholders.ts';

/** Level 1 makes text as small as the default of 3 and takes two thirds of its time. A window of 1 MiB holds a whole send: that of level 1
 *  is half as large, and its second half took 5 % more of the time. */
const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 20 };
/** Our own publishers send 1 MB at once; a batch that grows beyond this is not one of theirs. */
const MAX_BATCH_BYTES = 67_108_864;

/** kafkajs ships gzip alone and takes other codecs from a table of its own. Registering again changes nothing. What it compresses are
 *  placeholders of `placeholdersOf`, for which it puts the records themselves.
 *
 *  Both ways are synchronous, 11 µs for a record of 4 KB (14 where the size is not given beforehand): handing batches to Node's thread
 *  pool took twice the CPU of publishing (108 µs a record instead of 64, the median of alternating runs with twelve partitions, whose
 *  parts of a batch are small). Whoever publishes much does so on a worker thread. */
export function registerZstd(): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  const encoder = new RecordEncoder();
  const codec = {
    compress: async ({ buffer }: { buffer: Buffer }) => {
      const records = encoder.encode(placedRecords(buffer));
      return zstdCompressSync(records, { params: PARAMS, pledgedSrcSize: records.length });
    },
    decompress: async (buffer: Buffer) => zstdDecompressSync(buffer, { maxOutputLength: MAX_BATCH_BYTES }),
  };
  CompressionCodecs[CompressionTypes.ZSTD] = () => codec;
}
