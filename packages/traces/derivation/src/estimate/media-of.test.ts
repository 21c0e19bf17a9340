import { expect, test } from '@jest/globals';
import { mediaOf } from './media-of.ts';

const base64 = (file: string, coding: BufferEncoding = 'latin1') => Buffer.from(file, coding).toString('base64');
const PNG = base64('89504e470d0a1a0a0000000d4948445200000280000001e008', 'hex');
const JPEG = base64('ffd8ffe000104a46494600010100000100010000ffdb00040000ffffc000110801e0028003012200021101', 'hex');
const WAV = base64(`RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0`);

test.each([
  ['PNG', PNG, { kind: 'image', width: 640, height: 480 }],
  ['JPEG', JPEG, { kind: 'image', width: 640, height: 480 }],
  ['a data URL', `data:image/png;charset=x;base64,${PNG}`, { kind: 'image', width: 640, height: 480 }],
  ['escaped slashes', `data:image\\/jpeg;base64,${JPEG.replaceAll('/', '\\/')}`, { kind: 'image', width: 640, height: 480 }],
  ['an escape that is cut', `${PNG.slice(0, 32)}\\`, { kind: 'image', width: 640, height: 480 }],
  ['an image that ends early', PNG.slice(0, 12), { kind: 'image' }],
  ['an image without extent', base64('4749463839610000e001f7', 'hex'), { kind: 'image' }],
  ['an unknown image', 'data:image/avif;base64,AAAA', { kind: 'image' }],
  ['WAV', WAV, { kind: 'audio', bytesPerSecond: 32_000 }],
  ['MP3', base64('ID3\x04'), { kind: 'audio', bytesPerSecond: 1_000 }],
  ['other audio', 'data:audio/ogg;base64,AAAA', { kind: 'audio', bytesPerSecond: 1_000 }],
  ['PDF', base64('%PDF-1.7'), { kind: 'document' }],
  ['an unknown file', 'data:application/zip;base64,AAAA', { kind: 'document' }],
  ['other base64', 'SGVsbG8=', undefined],
  ['text', 'data:text/plain,hello', undefined],
  ['words after a header', '/9j/ and more', undefined],
  ['nothing', '', undefined],
])('recognises %s', (_, head, media) => {
  expect(mediaOf(Buffer.from(head))).toEqual(media);
});
