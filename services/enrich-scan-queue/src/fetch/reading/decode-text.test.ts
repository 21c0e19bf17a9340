import { expect, test } from '@jest/globals';
import { decodeText } from './decode-text.ts';

const utf8 = Buffer.from('Größe 漢字');
const meta = (charset: string, ...rest: readonly Buffer[]) =>
  Buffer.concat([Buffer.from(`<meta charset="${charset}">`), ...rest]);
const utf16 = Buffer.from('Größe', 'utf16le');

test.each([
  ['nothing declared, UTF-8', utf8, '', 'Größe 漢字'],
  ['nothing declared, not UTF-8', Buffer.from([0x47, 0xf6, 0x80]), '', 'Gö€'],
  ['ISO-8859-1 is read as windows-1252', Buffer.from([0x80, 0xdf]), 'text/html; charset=ISO-8859-1', '€ß'],
  ['UTF-8 declared as ISO-8859-1', utf8, 'text/html; charset=iso-8859-1', 'Größe 漢字'],
  ['windows-1252 declared as UTF-8', Buffer.from([0x47, 0xf6]), 'text/html; charset=utf-8', 'Gö'],
  [
    'declared as UTF-8 by the header, truly by meta',
    meta('windows-1251', Buffer.from([0xcf, 0xf0])),
    'text/html; charset=utf-8',
    '<meta charset="windows-1251">Пр',
  ],
  ['Shift_JIS', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), 'text/html; charset="Shift_JIS"', '日本'],
  ['EUC-KR by meta', meta('euc-kr', Buffer.from([0xc7, 0xd1])), 'text/html', '<meta charset="euc-kr">한'],
  ['GB18030', Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), 'text/html;charset=gb18030', '你好'],
  [
    'GBK by http-equiv',
    Buffer.concat([Buffer.from('<META http-equiv=Content-Type content="text/html; charset=gbk">'), Buffer.from([0xc4, 0xe3])]),
    '',
    '<META http-equiv=Content-Type content="text/html; charset=gbk">你',
  ],
  ['ISO-2022-JP, which looks like ASCII', Buffer.from('\u001B$BF|K\\\u001B(B'), 'text/html; charset=iso-2022-jp', '日本'],
  [
    'a byte order mark beats the header',
    Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), utf8]),
    'text/html; charset=shift_jis',
    'Größe 漢字',
  ],
  ['UTF-16 by its mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), '', 'Größe'],
  ['UTF-16 by the header', Buffer.from('plain', 'utf16le'), 'text/html; charset=utf-16le', 'plain'],
  ['UTF-16 in meta is not believed', meta('utf-16', utf8), '', '<meta charset="utf-16">Größe 漢字'],
  ['an unknown label', utf8, 'text/html; charset=klingon', 'Größe 漢字'],
  [
    'a label in a comment',
    Buffer.concat([Buffer.from('<!-- <meta charset="shift_jis"> -->'), Buffer.from([0xf6])]),
    '',
    '<!-- <meta charset="shift_jis"> -->ö',
  ],
  ['nothing', Buffer.alloc(0), 'text/html', ''],
])('%s', (_, bytes, contentType, text) => {
  expect(decodeText(bytes, contentType)).toBe(text);
});
