import type { HeaderWalk } from './header-walker.ts';
import type { MediaFacts } from './media-facts.ts';

/** The size of a PNG, JPEG, GIF or WebP image, from its own header. */
export function* imageSize(): HeaderWalk<MediaFacts> {
  const head = yield 0;
  const signature = head.toString('latin1', 0, 16);
  if (signature.startsWith('\x89PNG\r\n\x1a\n') && signature.endsWith('IHDR'))
    return sized(head.readUInt32BE(16), head.readUInt32BE(20));
  if (/^GIF8[79]a/.test(signature)) return sized(head.readUInt16LE(6), head.readUInt16LE(8));
  if (/^RIFF[^]{4}WEBPVP8[ LX]/.test(signature)) return webpSize(head);
  return signature.startsWith('\xff\xd8\xff') ? yield* jpegSize() : undefined;
}

/** Spec: RFC 9649, RFC 6386 (9.1). */
function webpSize(head: Buffer): ReturnType<typeof sized> {
  const form = head.toString('latin1', 15, 16);
  if (form === 'X') return sized(1 + head.readUIntLE(24, 3), 1 + head.readUIntLE(27, 3));
  if (form === ' ') return sized(head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff);
  const bits = head.readUInt32LE(21);
  return sized(1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff));
}

/** The size is in the frame header (SOF0 to SOF15), behind segments with metadata. See ITU-T T.81, B.1. */
function* jpegSize(): HeaderWalk<MediaFacts> {
  for (let at = 2; ;) {
    const segment = yield at;
    const marker = segment.readUInt16BE(0);
    if (marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker))
      return sized(segment.readUInt16BE(7), segment.readUInt16BE(5));
    // Bytes 0xff may precede a marker. After the start of a scan no frame header follows.
    if (marker < 0xffc0 || marker === 0xffda || marker === 0xffd9) return undefined;
    at += marker === 0xffff ? 1 : 2 + segment.readUInt16BE(2);
  }
}

function sized(width: number, height: number) {
  return width > 0 && height > 0 ? () => ({ width, height }) : undefined;
}
