import { withoutWww, type AddressReader, type PageAddress } from './page-address.ts';

/** Pictures and fonts load nothing, and the JSON of products has thousands of them. */
const MEDIA = /\.(?:jpe?g|png|gif|webp|avif|svg|ico|mp4|webm|woff2?|ttf)(?:[?&]|$)/i;
const ESCAPE = /\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\(.)/g;
/** Top-level domains of hosts that vendors write without a scheme. */
const BARE =
  /^[a-z0-9][a-z0-9-]*\.(?:[a-z0-9-]+\.){0,4}(?:com|net|io|co|org|tv|ai|chat|app|me|dev|cloud|ms|shop|store|de|uk|eu|fr|jp|it|es|nl|br|in|cn)(?:[/:?]|$)/i;
const TAG_SOURCE = /^<(?:script|iframe|img)\b[^>]{0,300}?\bsrc=\\?["']?([^"'\s>\\]+)/i;

/** The address that is the whole of a string literal in a script; undefined for anything else. */
export function inlineAddress(literal: string, hasEscape: boolean, addresses: AddressReader): PageAddress | undefined {
  const text = written(hasEscape ? unescaped(literal) : literal);
  if (text.startsWith('<')) {
    const source = TAG_SOURCE.exec(text)?.[1];
    return source === undefined ? undefined : addresses.read(source);
  }
  if (MEDIA.test(text)) return undefined;
  if (/^(?:https?:)?\/\//.test(text)) return addresses.read(text);
  if (!BARE.test(text)) return undefined;
  // `theme.app` is a property access, while `cdn.attn.tv` and `vendor.com/x.js` are hosts.
  const isHost = text.includes('/') || withoutWww(text).split('.').length > 2;
  return isHost ? addresses.readBare(text) : undefined;
}

/** The result of `unescape` for a tag; for the text after a value in a tag, the address. */
function written(text: string): string {
  if (!text.includes('%3')) return text;
  const tag = text
    .replace(/%3C/gi, '<')
    .replace(/%3E/gi, '>')
    .replace(/%2[02]/g, ' ');
  if (tag === text || tag.startsWith('<')) return tag;
  return /^[^\s'"<>]*/.exec(tag)?.[0] ?? '';
}

function unescaped(literal: string): string {
  return literal.replace(ESCAPE, (_, unicode?: string, hex?: string, other?: string) =>
    other === undefined ? String.fromCharCode(Number.parseInt(unicode ?? hex ?? '', 16)) : other,
  );
}
