import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
// Named imports of these are not found at run time: kafkajs assigns them in a way that Node cannot see.
import kafkajs from 'kafkajs';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** kafkajs ships gzip alone and takes other codecs from a table of its own. Registering again changes nothing. */
export function registerZstd(): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  const codec = {
    compress: ({ buffer }: { buffer: Buffer }) => compress(buffer),
    decompress: (buffer: Buffer) => decompress(buffer),
  };
  CompressionCodecs[CompressionTypes.ZSTD] = () => codec;
}
