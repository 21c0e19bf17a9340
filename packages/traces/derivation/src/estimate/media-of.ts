import { HeaderWalker } from '../multipart/header-walker.ts';
import { mediaFacts } from '../multipart/media-facts.ts';

/** What a request has as base64. */
type Media =
  /** Without its size if that is not in its first bytes. */
  | { readonly kind: 'image'; readonly width?: number; readonly height?: number }
  /** With the least bytes that a second of it has. */
  | { readonly kind: 'audio'; readonly bytesPerSecond: number }
  | { readonly kind: 'document' };

const DATA_URL = /^data:([^;,]{0,100})(?:;[^;,]{0,100}){0,4};base64,/i;
/** MP3 has at least 8 kbit/s. */
const AUDIO_BYTES_PER_SECOND = 1_000;

/** Recognises base64, or a data URL of it, by its beginning as JSON has it, with escaped slashes. Undefined for any other text. */
export function mediaOf(head: Buffer): Media | undefined {
  const text = head.toString('latin1').replaceAll('\\/', '/').replace(/\\$/, '');
  const url = DATA_URL.exec(text);
  const base64 = url === null ? text : text.slice(url[0].length);
  if (!/^[A-Za-z0-9+/]+=*$/.test(base64)) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  const type = url?.[1] ?? typeOf(bytes.toString('latin1', 0, 12));
  if (type === undefined) return undefined;
  if (/^image\//i.test(type)) return { kind: 'image', ...sizeOf(bytes) };
  return /^audio\//i.test(type) ? { kind: 'audio', bytesPerSecond: bytesPerSecondOf(bytes) } : { kind: 'document' };
}

function typeOf(start: string): string | undefined {
  if (/^(?:\x89PNG|GIF8|\xff\xd8\xff|RIFF[^]{4}WEBP)/.test(start)) return 'image/';
  if (/^(?:RIFF[^]{4}WAVE|ID3|\xff[\xe0-\xff])/.test(start)) return 'audio/';
  return start.startsWith('%PDF') ? 'application/pdf' : undefined;
}

function sizeOf(bytes: Buffer): { readonly width?: number; readonly height?: number } {
  const walker = new HeaderWalker(mediaFacts());
  walker.push(bytes);
  return walker.end() ?? {};
}

function bytesPerSecondOf(bytes: Buffer): number {
  const isWav = bytes.toString('latin1', 8, 16) === 'WAVEfmt ' && bytes.length >= 32;
  return Math.max(AUDIO_BYTES_PER_SECOND, isWav ? bytes.readUInt32LE(28) : 0);
}
