import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

const PRESCAN_BYTES = 4_096;
const BYTE_ORDER_MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];
/** The charset of a page that is not UTF-8 and declares no charset (WHATWG, most locales). */
const FALLBACK = 'windows-1252';
const LABEL = /charset\s*=\s*(?:["']\s*)?([A-Za-z0-9_:.+-]{2,40})/i;
const TAG_MAX_LENGTH = 500;

/** Decodes a page: by its byte order mark, then by the header, then by its own `meta`. A declaration that contradicts the bytes is ignored: bytes
 *  that are valid non-ASCII UTF-8 are read as UTF-8, and invalid UTF-8 never is. Unknown labels are ignored. */
export function decodeText(bytes: Buffer, contentType: string): string {
  const mark = BYTE_ORDER_MARKS.find(([, octets]) => octets.every((octet, index) => bytes[index] === octet));
  if (mark !== undefined) return new TextDecoder(mark[0]).decode(bytes);
  const declared = [LABEL.exec(contentType)?.[1], metaCharset(bytes)].flatMap((label) => decoderOf(label) ?? []);
  if (isUtf8(bytes)) {
    // ISO-2022-JP and UTF-16 without a mark contain only bytes that are valid in UTF-8.
    const hasNul = bytes.includes(0);
    const disguised = declared.find(({ encoding }) => encoding === 'iso-2022-jp' || (hasNul && encoding.startsWith('utf-16')));
    return (disguised ?? new TextDecoder('utf-8')).decode(bytes);
  }
  const believed = declared.find(({ encoding }) => encoding !== 'utf-8');
  return (believed ?? new TextDecoder(FALLBACK)).decode(bytes);
}

function metaCharset(bytes: Buffer): string | undefined {
  const head = withoutComments(bytes.toString('latin1', 0, PRESCAN_BYTES));
  const [, ...behindNames] = head.split(/<meta(?=\s)/i);
  const label = behindNames
    .map((text) => text.slice(0, Math.min(text.indexOf('>') + 1, TAG_MAX_LENGTH)))
    .map((attributes) => LABEL.exec(attributes)?.[1])
    .find((found) => found !== undefined);
  // The bytes of this tag were read as ASCII, so they cannot be UTF-16 (WHATWG).
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

/** An unterminated comment is kept. */
function withoutComments(text: string): string {
  let kept = '';
  let from = 0;
  for (let at = text.indexOf('<!--'); at !== -1; at = text.indexOf('<!--', from)) {
    const end = text.indexOf('-->', at + 4);
    if (end === -1) break;
    kept += text.slice(from, at);
    from = end + 3;
  }
  return kept + text.slice(from);
}

function decoderOf(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
