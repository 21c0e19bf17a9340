import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
// Named imports of these fail at run time, because kafkajs assigns them in a way that Node cannot analyse.
import kafkajs from 'kafkajs';

/** Level 1 compresses text as well as the default of 3 in two thirds of the time. */
const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Our own publishers send 1 MB at once; a batch that expands beyond this does not come from them. */
const MAX_BATCH_BYTES = 67_108_864;

const codec = {
  compress: async ({ buffer }: { buffer: Buffer }) => zstdCompressSync(buffer, { params: PARAMS }),
  decompress: async (buffer: Buffer) => zstdDecompressSync(buffer, { maxOutputLength: MAX_BATCH_BYTES }),
};

/** kafkajs ships only gzip and reads other codecs from this table. Registering again has no effect. Both directions are synchronous, because
 *  passing each batch to Node's thread pool costs more CPU than compressing it. The gateway publishes on a worker thread. */
export function registerZstd(): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  CompressionCodecs[CompressionTypes.ZSTD] = () => codec;
}
