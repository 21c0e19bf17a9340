import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
// Named imports of these are not found at run time: kafkajs assigns them in a way that Node cannot see.
import kafkajs from 'kafkajs';

/** Level 1 makes text as small as the default of 3 and takes two thirds of its time. */
const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Our own publishers send 1 MB at once; a batch that grows beyond this is not one of theirs. */
const MAX_BATCH_BYTES = 67_108_864;

const codec = {
  compress: async ({ buffer }: { buffer: Buffer }) => zstdCompressSync(buffer, { params: PARAMS }),
  decompress: async (buffer: Buffer) => zstdDecompressSync(buffer, { maxOutputLength: MAX_BATCH_BYTES }),
};

/** kafkajs ships only gzip and takes other codecs from this table. Registering again changes nothing. Both directions are synchronous: passing each
 *  batch to Node's thread pool costs more CPU than compressing it. The gateway publishes on a worker thread. */
export function registerZstd(): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  CompressionCodecs[CompressionTypes.ZSTD] = () => codec;
}
