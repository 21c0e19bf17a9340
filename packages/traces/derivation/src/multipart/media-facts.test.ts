import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import * as fc from 'fast-check';
import { HeaderWalker } from './header-walker.ts';
import { mediaFacts, type MediaFacts } from './media-facts.ts';

function read(chunks: readonly Buffer[]): MediaFacts | undefined {
  const walker = new HeaderWalker(mediaFacts());
  for (const chunk of chunks) walker.push(chunk);
  return walker.end();
}

/** The facts of a file, which are the same byte by byte. */
function factsOf(file: Buffer): MediaFacts | undefined {
  const facts = read([file]);
  expect(read(Array.from(file, (_, at) => file.subarray(at, at + 1)))).toEqual(facts);
  return facts;
}

const hex = (text: string, ...rest: Buffer[]) => Buffer.concat([Buffer.from(text.replaceAll(' ', ''), 'hex'), ...rest]);
const ascii = (text: string, ...rest: Buffer[]) => Buffer.concat([Buffer.from(text, 'latin1'), ...rest]);
const u16 = (value: number) => hex(value.toString(16).padStart(4, '0'));
const u32 = (value: number) => hex(value.toString(16).padStart(8, '0'));
const u64 = (value: number) => hex(value.toString(16).padStart(16, '0'));
const le16 = (value: number) => u16(value).swap16();
const le32 = (value: number) => u32(value).swap32();
const zeros = (length: number) => Buffer.alloc(length);

describe('an image', () => {
  const segment = (marker: string, length: number) => hex(`ff${marker}`, u16(length), zeros(length - 2));
  const frame = (marker: string) => hex(`ff${marker} 0011 08`, u16(480), u16(640), zeros(10));
  const webp = (form: string, content: string) => ascii('RIFF\x64\0\0\0WEBP', ascii(form), hex('64000000'), hex(content));
  const SIZE = { width: 640, height: 480 };

  test.each<[string, Buffer, MediaFacts | undefined]>([
    ['PNG', hex('89504e470d0a1a0a 0000000d 49484452 00000280 000001e0 08 02 000000'), SIZE],
    ['PNG with another chunk first', hex('89504e470d0a1a0a 0000000d 49444154 00000280 000001e0 08 02 000000'), undefined],
    ['GIF 87a', ascii('GIF87a', le16(640), le16(480)), SIZE],
    ['GIF 89a', ascii('GIF89a', le16(640), le16(480), zeros(100)), SIZE],
    ['GIF without a size', ascii('GIF89a', zeros(20)), undefined],
    ['baseline JPEG', hex('ffd8', segment('e0', 16), segment('db', 67), frame('c0')), SIZE],
    ['progressive JPEG', hex('ffd8', segment('c4', 30), frame('c2')), SIZE],
    ['JPEG with much metadata', hex('ffd8', ...Array.from({ length: 16 }, () => segment('e1', 65_535)), frame('c1')), SIZE],
    ['JPEG with fill bytes', hex('ffd8', segment('e0', 16), hex('ffffff'), frame('c0')), SIZE],
    ['JPEG whose scan comes first', hex('ffd8', segment('da', 8), frame('c0')), undefined],
    ['JPEG cut in its frame header', hex('ffd8 ffe0 0008 010203040506 ffc0'), undefined],
    ['JPEG without segments', hex('ffd8ff', zeros(100)), undefined],
    ['lossy WebP', webp('VP8 ', '30 01 00 9d 01 2a 80 42 e0 81'), SIZE],
    ['lossless WebP', webp('VP8L', '2f 7f c2 77 00'), SIZE],
    ['extended WebP', webp('VP8X', '10 000000 7f0200 df0100'), SIZE],
    ['text', Buffer.from('a file of text '.repeat(10)), undefined],
    ['nothing', zeros(0), undefined],
  ])('%s', (_, file, facts) => {
    expect(factsOf(file)).toEqual(facts);
    expect(factsOf(Buffer.concat([file, zeros(file.length === 0 ? 0 : 1_000)]))).toEqual(facts);
  });
});

describe('audio', () => {
  const chunk = (id: string, length: number, content = zeros(length + (length % 2))) => ascii(id, le32(length), content);
  const wav = (...chunks: Buffer[]) => ascii('RIFF', le32(0), ascii('WAVE'), ...chunks);
  const fmt = (format: number, channels: number, rate: number, frameBytes: number, bits: number) =>
    chunk('fmt ', 16, Buffer.concat([le16(format), le16(channels), le32(rate), le32(1), le16(frameBytes), le16(bits)]));
  const PCM = fmt(1, 2, 1_000, 4, 16);
  const flac = (samples: number) =>
    // 44,100 Hz, two channels, 16 bits.
    ascii('fLaC', hex('80000022'), zeros(10), hex(`0ac442 f${samples.toString(16).padStart(9, '0')}`), zeros(16 + 1_000));
  const xing = (header: string, side: number, frames: number) =>
    hex(header, zeros(side), ascii('Xing'), u32(1), u32(frames), zeros(1_000));
  const box = (type: string, ...content: Buffer[]) => {
    const all = Buffer.concat(content);
    return Buffer.concat([u32(8 + all.length), Buffer.from(type), all]);
  };
  const mvhd = (duration: number) => box('mvhd', zeros(4), u32(0), u32(0), u32(1_000), u32(duration), zeros(80));
  const FTYP = box('ftyp', ascii('M4A isom'));

  test.each<[string, Buffer, number | undefined]>([
    ['WAV', wav(PCM, chunk('data', 6_000)), 1.5],
    ['WAV with other chunks', wav(chunk('LIST', 5), PCM, chunk('bext', 602), chunk('data', 2_000), chunk('LIST', 400)), 0.5],
    ['WAV of open length', wav(PCM, ascii('data'), hex('ffffffff'), zeros(4_000)), 1],
    ['WAV of length 0 that goes on', wav(PCM, chunk('data', 0), zeros(4_000)), 1],
    ['WAV that is shorter than its header says', wav(PCM, ascii('data', le32(1_000_000), zeros(4_000))), 1],
    ['WAV of A-law', wav(fmt(6, 1, 8_000, 1, 8), chunk('data', 4_000)), 0.5],
    ['extensible WAV', wav(fmt(0xfffe, 1, 1_000, 3, 24), chunk('data', 3_000)), 1],
    ['compressed WAV', wav(fmt(0x11, 1, 8_000, 256, 4), chunk('data', 4_000)), undefined],
    ['compressed WAV with the sizes of samples', wav(fmt(0x55, 1, 8_000, 1, 8), chunk('data', 4_000)), undefined],
    ['WAV whose sizes disagree', wav(fmt(1, 2, 1_000, 400, 16), chunk('data', 4_000)), undefined],
    ['WAV without a rate', wav(fmt(1, 2, 0, 4, 16), chunk('data', 4_000)), undefined],
    ['WAV without a format', wav(chunk('data', 4_000)), undefined],
    ['WAV without samples', wav(PCM), undefined],
    ['WAV with empty samples', wav(PCM, chunk('data', 0)), undefined],
    ['FLAC', flac(441_000), 10],
    ['FLAC of more than 2^32 samples', Buffer.concat([flac(2 ** 33), zeros(200_000)]), 2 ** 33 / 44_100],
    ['FLAC of less than a byte a second', flac(2 ** 33), undefined],
    ['FLAC of unknown length', flac(0), undefined],
    ['FLAC of more bytes than its samples have', Buffer.concat([flac(100), zeros(100_000)]), undefined],
    ['MP3 with a frame count', xing('fffb9064', 32, 1_000), 1_152_000 / 44_100],
    ['mono MP3 with a frame count', xing('fffb90c4', 17, 1_000), 1_152_000 / 44_100],
    ['MP3 of 22,050 Hz', xing('fff390c4', 9, 1_000), 576_000 / 22_050],
    ['MP3 of 8,000 Hz', xing('ffe398c4', 9, 1_000), 576_000 / 8_000],
    ['MP3 behind a tag', ascii('ID3\x04\0\0', hex('00000201'), zeros(257), xing('fffb9064', 32, 1_000)), 1_152_000 / 44_100],
    [
      'MP3 behind a picture',
      ascii('ID3\x04\0\0', hex('00060d20'), zeros(100_000), xing('fffb9064', 32, 20)),
      (20 * 1_152) / 44_100,
    ],
    ['MP3 without a frame count', hex('fffb9064', zeros(1_000)), undefined],
    ['MP3 with a tag that has no end', ascii('ID3\x04\0\0', hex('7f7f7f7f'), zeros(1_000)), undefined],
    ['MP3 of more bytes than its frames have', Buffer.concat([xing('fffb9064', 32, 1), zeros(100_000)]), undefined],
    ['MP3 of a reserved rate', xing('fffb9c64', 32, 1_000), undefined],
    ['M4A', Buffer.concat([FTYP, box('moov', mvhd(2_500)), box('mdat', zeros(5_000))]), 2.5],
    [
      'M4A with its header at the end',
      Buffer.concat([FTYP, box('free'), box('mdat', zeros(5_000)), box('moov', mvhd(2_500))]),
      2.5,
    ],
    [
      'M4A with a long box',
      Buffer.concat([FTYP, u32(1), ascii('mdat'), u64(1_016), zeros(1_000), box('moov', mvhd(2_500))]),
      2.5,
    ],
    [
      'M4A with long times',
      Buffer.concat([FTYP, box('moov', box('mvhd', hex('01000000'), u64(0), u64(0), u32(1_000), u64(2_500), zeros(80)))]),
      2.5,
    ],
    ['M4A of unknown length', Buffer.concat([FTYP, box('moov', mvhd(0xffff_ffff))]), undefined],
    ['M4A in fragments', Buffer.concat([FTYP, box('moov', mvhd(0)), box('moof', zeros(1_000))]), undefined],
    ['video of that type', Buffer.concat([FTYP, box('moov', mvhd(1_000)), box('mdat', zeros(500_000))]), undefined],
    [
      'M4A with a box to the end',
      Buffer.concat([FTYP, u32(0), ascii('mdat'), zeros(5_000), box('moov', mvhd(2_500))]),
      undefined,
    ],
    ['Ogg', ascii('OggS', zeros(24), ascii('OpusHead'), zeros(100)), undefined],
  ])('%s', (_, file, seconds) => {
    expect(factsOf(file)?.seconds).toEqual(seconds);
  });

  test('headers of any content give the same facts for any segmentation, and positive ones', () => {
    // oxfmt-ignore
    const pieces = [
      hex('ffd8'), hex('ffe00004'), hex('ffff'), hex('ffc0'), hex('fffb9064'), hex('00000001'), hex('ffffffff'), zeros(1), zeros(32),
      ascii('RIFF'), ascii('WAVE'), ascii('WEBPVP8X'), ascii('fmt '), ascii('data'), ascii('ID3'), ascii('Xing'), ascii('fLaC'),
      ascii('ftyp'), ascii('moov'), ascii('mvhd'), wav(PCM), flac(1_000), FTYP, mvhd(1), box('free'), hex('89504e470d0a1a0a0000000d49484452'),
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
        const facts = factsOf(Buffer.concat(parts));
        for (const fact of Object.values(facts ?? {}) as number[]) expect(fact > 0 && Number.isFinite(fact)).toBe(true);
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });

  test.each([
    ['JPEG of 25 MB of empty segments', hex('ffd8', Buffer.alloc(25_000_000, hex('ffe00002')))],
    ['M4A of 25 MB of empty boxes', Buffer.concat([FTYP, Buffer.alloc(25_000_000, box('free'))])],
    ['WAV of 25 MB of empty chunks', wav(Buffer.alloc(25_000_000, chunk('LIST', 0)))],
  ])('after 512 steps a %s is given up', (_, file) => {
    const from = performance.now();
    expect(read([file])).toBeUndefined();
    expect(performance.now() - from).toBeLessThan(100);
  });
});
