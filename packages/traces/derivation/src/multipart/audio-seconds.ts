import type { HeaderWalk } from './header-walker.ts';
import type { MediaFacts } from './media-facts.ts';

/** The length of a WAV, FLAC, MP3 or MP4 audio file, from its own header. MP3 needs the frame count that encoders write into the first frame. Of Ogg,
 *  WebM and plain MP3 the header does not tell the length. */
export function* audioSeconds(): HeaderWalk<MediaFacts> {
  const head = yield 0;
  if (/^RIFF[^]{4}WAVE/.test(head.toString('latin1', 0, 12))) return yield* wavSeconds();
  if (head.toString('latin1', 4, 8) === 'ftyp') return yield* mp4Seconds();
  if (head.toString('latin1', 0, 4) === 'fLaC') return flacSeconds(head);
  if (head.toString('latin1', 0, 3) !== 'ID3') return mp3Seconds(head, 0);
  // The length of the tag has 7 bits in each byte.
  const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6, 10);
  const start = 10 + ((a << 21) | (b << 14) | (c << 7) | d);
  return mp3Seconds(yield start, start);
}

/** Formats of uncompressed samples: PCM, floating point, A-law, µ-law, extensible. */
const SAMPLES = [1, 3, 6, 7, 0xfffe];

function* wavSeconds(): HeaderWalk<MediaFacts> {
  let bytesPerSecond = 0;
  for (let at = 12; ;) {
    const chunk = yield at;
    const id = chunk.toString('latin1', 0, 4);
    const length = chunk.readUInt32LE(4);
    if (id === 'fmt ') {
      const frameBytes = chunk.readUInt16LE(20);
      const isExact =
        SAMPLES.includes(chunk.readUInt16LE(8)) && frameBytes * 8 === chunk.readUInt16LE(10) * chunk.readUInt16LE(22);
      bytesPerSecond = isExact ? chunk.readUInt32LE(12) * frameBytes : 0;
    }
    if (id === 'data') {
      const start = at + 8;
      // Writers that cannot seek leave 0 or 0xffffffff.
      return (fileBytes) =>
        lasting(Math.min(length || fileBytes, fileBytes - start) / bytesPerSecond, fileBytes, Number.POSITIVE_INFINITY);
    }
    at += 8 + length + (length & 1);
  }
}

/** Spec: RFC 9639 (8.2). */
function flacSeconds(head: Buffer) {
  const rate = head.readUIntBE(18, 3) >>> 4;
  const formats = head.readUInt16BE(20);
  const frameBits = (((formats >>> 9) & 7) + 1) * (((formats >>> 4) & 31) + 1);
  const samples = (formats & 15) * 2 ** 32 + head.readUInt32BE(22);
  return (fileBytes: number) => lasting(samples / rate, fileBytes, (rate * frameBits) / 8);
}

const MP3_RATES = [44_100, 48_000, 32_000];
/** 320 kbit/s. */
const MP3_MAX_BYTES_PER_SECOND = 40_000;

/** `start`: the offset of the first frame, which has its bytes in `frame`. */
function mp3Seconds(frame: Buffer, start: number) {
  const header = frame.readUInt32BE(0);
  const [version, layer] = [(header >>> 19) & 3, (header >>> 17) & 3];
  const rate = MP3_RATES[(header >>> 10) & 3] ?? 0;
  // Version 1 is reserved, and layer 1 is the third.
  if (header >>> 21 !== 0x7ff || version === 1 || layer !== 1) return undefined;
  const isMpeg1 = version === 3;
  const isMono = ((header >>> 6) & 3) === 3;
  const at = 4 + (isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17);
  if (!/^(?:Xing|Info)$/.test(frame.toString('latin1', at, at + 4)) || (frame.readUInt32BE(at + 4) & 1) === 0) return undefined;
  const samples = frame.readUInt32BE(at + 8) * (isMpeg1 ? 1_152 : 576);
  const samplesPerSecond = rate / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  return (fileBytes: number) => lasting(samples / samplesPerSecond, fileBytes - start, MP3_MAX_BYTES_PER_SECOND);
}

/** Above any AAC stream. Files with moving pictures are above it, too. */
const MP4_MAX_BYTES_PER_SECOND = 125_000;

/** The length is in the box `mvhd` of `moov`, at the beginning or behind the samples. See ISO 14496-12, 8.2.2. */
function* mp4Seconds(): HeaderWalk<MediaFacts> {
  for (let at = 0; ;) {
    const box = yield at;
    const type = box.toString('latin1', 4, 8);
    const length = box.readUInt32BE(0);
    if (type === 'mvhd') {
      const isLong = box[8] === 1;
      const scale = box.readUInt32BE(isLong ? 28 : 20);
      const duration = isLong ? Number(box.readBigUInt64BE(32)) : box.readUInt32BE(24);
      const isKnown = duration < (isLong ? 2 ** 53 : 0xffff_ffff);
      return isKnown ? (fileBytes) => lasting(duration / scale, fileBytes, MP4_MAX_BYTES_PER_SECOND) : undefined;
    }
    at += type === 'moov' ? 8 : length === 1 ? Number(box.readBigUInt64BE(8)) : length;
  }
}

/** Nothing for a length that the size of the file contradicts: above its highest rate, or below a byte a second. */
function lasting(seconds: number, bytes: number, maxBytesPerSecond: number) {
  return bytes <= seconds * maxBytesPerSecond && seconds <= bytes ? { seconds } : {};
}
