import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import * as fc from 'fast-check';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { boundaryOf } from './boundary.ts';
import { MultipartReader, type FormFacts } from './multipart-reader.ts';

const B = 'xYzZY';
const NOTHING: FormFacts = { fields: [], files: [], textBytes: 0, isIncomplete: false, ended: false };

function read(chunks: readonly Uint8Array[], boundary = B): FormFacts {
  const reader = new MultipartReader(boundary);
  for (const chunk of chunks) reader.push(chunk);
  return reader.end();
}
const bytewise = (bytes: Uint8Array) => Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));

/** The facts of a form, which are the same byte by byte. */
function factsOf(form: string | Buffer, boundary = B): FormFacts {
  const bytes = Buffer.from(form);
  const facts = read([bytes], boundary);
  expect(read(bytewise(bytes), boundary)).toEqual(facts);
  return facts;
}

const field = (name: string, value: string) => `--${B}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (content: string, name = 'file', type = 'audio/mpeg') =>
  `--${B}\r\nContent-Disposition: form-data; name="${name}"; filename="a b.mp3"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`;
const END = `--${B}--\r\n`;

describe('a form', () => {
  test('its fields, and the name, type and size of its files are read, in any order', () => {
    const form = file('0123456789', 'image[]', 'image/PNG') + field('model', 'gpt-image-1') + field('n', '2') + END;
    expect(factsOf(form)).toEqual({
      fields: [
        { name: 'model', value: 'gpt-image-1' },
        { name: 'n', value: '2' },
      ],
      files: [{ field: 'image[]', name: 'a b.mp3', type: 'image/png', bytes: 10 }],
      textBytes: 12,
      isIncomplete: false,
      ended: true,
    });
  });

  test('a field that was sent twice is read twice', () => {
    const form = field('timestamp_granularities[]', 'word') + field('timestamp_granularities[]', 'segment') + END;
    expect(factsOf(form).fields.map(({ value }) => value)).toEqual(['word', 'segment']);
  });

  test('of a prompt only the length is known', () => {
    expect(factsOf(field('prompt', 'grüße') + END)).toEqual({ ...NOTHING, textBytes: 7, ended: true });
  });

  test('what Node sends as FormData is read', async () => {
    const form = new FormData();
    form.set('model', 'whisper-1');
    form.set('file', new File(['0123'], 'ä"\r\n.wav', { type: 'audio/wav' }));
    form.set('response_format', 'srt');
    const request = new Request('http://localhost', { method: 'POST', body: form });
    const boundary = boundaryOf(request.headers.get('content-type') ?? '');
    expect(factsOf(Buffer.from(await request.arrayBuffer()), boundary)).toMatchObject({
      fields: [
        { name: 'model', value: 'whisper-1' },
        { name: 'response_format', value: 'srt' },
      ],
      files: [{ field: 'file', type: 'audio/wav', bytes: 4 }],
      ended: true,
    });
  });

  test.each<[string, string, Partial<FormFacts>]>([
    ['nothing', '', {}],
    ['an end without parts', END, { ended: true }],
    [
      'an end without a line end',
      field('n', '1') + END.trimEnd(),
      { fields: [{ name: 'n', value: '1' }], textBytes: 1, ended: true },
    ],
    [
      'a preamble and an epilogue',
      `x: --${B}\r\n${field('n', '1')}${END}${field('n', '2')}`,
      { fields: [{ name: 'n', value: '1' }], textBytes: 1, ended: true },
    ],
    [
      'LF for line ends',
      (field('n', '1\r\n') + END).replaceAll('\r\n', '\n'),
      { fields: [{ name: 'n', value: '1\n' }], textBytes: 2, ended: true },
    ],
    [
      'a delimiter of LF in a form of CRLF',
      field('model', `a\n--${B}\nb`) + END,
      { fields: [{ name: 'model', value: `a\n--${B}\nb` }], textBytes: 11, ended: true },
    ],
    [
      'blanks after a boundary',
      (field('n', '1') + END).replaceAll(`${B}\r`, `${B} \t\r`),
      { fields: [{ name: 'n', value: '1' }], textBytes: 1, ended: true },
    ],
    [
      'a longer boundary in a part',
      field('model', `a\r\n--${B}Z\r\nb`) + END,
      { fields: [{ name: 'model', value: `a\r\n--${B}Z\r\nb` }], textBytes: 14, ended: true },
    ],
    [
      'a boundary and a hyphen in a part',
      field('model', `a\r\n--${B}-\r\nb`) + END,
      { fields: [{ name: 'model', value: `a\r\n--${B}-\r\nb` }], textBytes: 14, ended: true },
    ],
    [
      'half a boundary before a boundary',
      field('n', `1\r\n--xYz\r`) + END,
      { fields: [{ name: 'n', value: '1\r\n--xYz\r' }], textBytes: 9, ended: true },
    ],
    ['a part without headers', `--${B}\r\n\r\nwhisper-1\r\n${END}`, { textBytes: 9, ended: true }],
    ['a part without anything', `--${B}\r\n${END}`, { ended: true }],
    ['a part that ends in its headers', `--${B}\r\nContent-Disposition: form-data; name="model"\r\n${END}`, { ended: true }],
    ['an empty field', field('model', '') + END, { fields: [{ name: 'model', value: '' }], ended: true }],
  ])('%s', (_, form, expected) => {
    expect(factsOf(form)).toEqual({ ...NOTHING, ...expected });
  });

  test.each<[string, string]>([
    ['in lower case', 'content-disposition:form-data;name="model"'],
    ['without quotes', 'Content-Disposition: form-data; name=model'],
    ['with blanks', 'CONTENT-DISPOSITION : form-data ;\tNAME = "model" '],
    ['on two lines', 'Content-Disposition: form-data;\r\n name="model"'],
    [
      'behind others',
      'X-Name: name="n"\r\nContent-Type: text/plain; name="size"\r\nContent-Disposition: form-data; name="model"',
    ],
    ['and only the first', 'Content-Disposition: form-data; name="model"; name="prompt"'],
    ['with escapes', 'Content-Disposition: form-data; x="\\"; name=\\"n\\""; name="mo\\del"'],
  ])('the name of a field is read %s', (_, headers) => {
    expect(factsOf(`--${B}\r\n${headers}\r\n\r\nm\r\n${END}`).fields).toEqual([{ name: 'model', value: 'm' }]);
  });

  test.each<[string, string]>([
    ['is that of a file', 'Content-Disposition: form-data; name="file"; filename="name=model"'],
    ['is that of a file in another character set', `Content-Disposition: form-data; name="model"; filename*=UTF-8''%ff`],
    ['is in another header', 'X-Content-Disposition: form-data; name="model"'],
    ['is in the name of another parameter', 'Content-Disposition: form-data; xname="model"'],
    ['is in the text of another parameter', 'Content-Disposition: form-data; x="; name=model"; name="prompt"'],
    ['is not closed', 'Content-Disposition: form-data; name="model'],
  ])('a part is no field called model if that name %s', (_, headers) => {
    expect(factsOf(`--${B}\r\n${headers}\r\n\r\nm\r\n${END}`)).toMatchObject({ fields: [], ended: true });
  });

  test('a form in a part is not read', () => {
    const inner = '--inner\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--inner--';
    expect(factsOf(file(inner, 'file', 'multipart/mixed; boundary=inner') + END)).toMatchObject({
      fields: [],
      files: [{ type: 'multipart/mixed', bytes: inner.length }],
      ended: true,
    });
  });
});

describe('a form that is cut', () => {
  test('keeps the fields before the cut, and no half field', () => {
    const form = field('model', 'gpt-4o-transcribe') + file('0123') + END;
    const half = form.indexOf('-transcribe');
    expect(factsOf(form.slice(0, half))).toMatchObject({ fields: [], ended: false });
    expect(factsOf(form.slice(0, half + 13))).toMatchObject({ fields: [], ended: false });
    expect(factsOf(form.slice(0, form.indexOf('23')))).toMatchObject({
      fields: [{ name: 'model', value: 'gpt-4o-transcribe' }],
      files: [{ bytes: 2 }],
      ended: false,
    });
  });

  test('has not ended, wherever it is cut', () => {
    const form = (field('model', 'm') + END).trimEnd();
    for (let length = 0; length <= form.length; length += 1)
      expect(factsOf(form.slice(0, length)).ended).toBe(length === form.length);
  });
});

describe('bounds', () => {
  test.each([
    [1_024, [1_024], false],
    [1_025, [], true],
    [10_240, [], true],
  ])('a model of %i characters: %p', (length, lengths, isIncomplete) => {
    const facts = factsOf(field('model', 'm'.repeat(length)) + field('prompt', 'p'.repeat(length)) + END);
    expect([facts.fields.map(({ value }) => value.length), facts.isIncomplete]).toEqual([lengths, isIncomplete]);
    expect([facts.textBytes, facts.ended]).toEqual([2 * length, true]);
  });

  test.each([
    [64, 64, false],
    [65, 64, true],
  ])('of %i fields and as many files %i are remembered', (sent, remembered, isIncomplete) => {
    const facts = factsOf((field('n', '1') + file('x')).repeat(sent) + END);
    expect([facts.fields.length, facts.files.length, facts.isIncomplete]).toEqual([remembered, remembered, isIncomplete]);
  });

  test.each([
    [999, 'm', false],
    [1_000, undefined, true],
    [10_000, undefined, true],
  ])('behind %i other parts a model is read as %p', (parts, model, isIncomplete) => {
    const facts = factsOf(field('x', 'y').repeat(parts) + field('model', 'm') + END);
    expect([facts.fields[0]?.value, facts.isIncomplete]).toEqual([model, isIncomplete]);
  });

  test('headers of megabytes make a part unreadable, and the next one is read', () => {
    const large = `--${B}\r\nX: ${'x'.repeat(2_000_000)}\r\nContent-Disposition: form-data; name="model"\r\n\r\na\r\n`;
    const bytes = Buffer.from(large + field('model', 'b') + END);
    expect(read([bytes])).toMatchObject({ fields: [{ name: 'model', value: 'b' }], isIncomplete: true, ended: true });
  });

  test('names of files and types are kept up to 256 characters', () => {
    const head = `Content-Disposition: form-data; name="file"; filename="${'f'.repeat(2_000)}"\r\nContent-Type: ${'t'.repeat(2_000)}`;
    const [{ name, type } = { name: '', type: '' }] = factsOf(`--${B}\r\n${head}\r\n\r\nx\r\n${END}`).files;
    expect([name.length, type.length]).toEqual([256, 256]);
  });

  test.each([
    ['a file', '0123456789abcdef'.repeat(4_096)],
    ['boundaries that never end', `\r\n--${B}${' '.repeat(1_000)}`.repeat(64)],
    ['line ends', '\r\n'.repeat(32_768)],
  ])('100 MB of %s take no memory', (_, text) => {
    const chunk = Buffer.from(text.slice(0, 65_536));
    const reader = new MultipartReader(B);
    reader.push(Buffer.from(file('').slice(0, -2)));
    const before = keptBytes();
    for (let count = 0; count < 1_600; count += 1) reader.push(chunk);
    expect(keptBytes() - before).toBeLessThan(20_000_000);
    expect(reader.end().files[0]?.bytes).toBe(1_600 * chunk.length);
  });
});

/** Bytes of the heap and of buffers that are still in use after a collection. */
function keptBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Parts of forms, valid and broken. */
// oxfmt-ignore
const PIECES = [
  '\r', '\n', '\r\n', '\r\n', '\r\n\r\n', '-', '--', B, `--${B}`, `\r\n--${B}`, `\r\n--${B}\r\n`, `\n--${B}\n`, `--${B}--`, `\r\n--${B}--\r\n`,
  ' ', '\t', 'x', 'a: b', ' folded', 'Content-Disposition: form-data; name="model"', 'content-disposition: form-data; name=n',
  'Content-Disposition: form-data; name="file"; filename="f"', 'Content-Type: image/png', '; name="model"', '"', '\\', ';', 'name=',
  field('model', 'm'), field('size', '1x1'), field('x', 'y'), file('0123'), file('\x89PNG\r\n\x1a\n'), END,
];

test('any bytes give the same facts for any segmentation', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PIECES), { maxLength: 20 }),
      fc.array(fc.nat(1_000), { maxLength: 8 }),
      (pieces, places) => {
        const bytes = Buffer.from(pieces.join(''), 'latin1');
        const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((left, right) => left - right);
        const facts = factsOf(bytes);
        // Chunks are overwritten once they were read.
        const reader = new MultipartReader(B);
        for (const [at, end] of ends.entries()) {
          const chunk = Buffer.from(bytes.subarray(ends[at - 1] ?? 0, end));
          reader.push(chunk);
          chunk.fill('!');
        }
        expect(reader.end()).toEqual(facts);
        expect(reader.end()).toEqual(facts);
      },
    ),
    { numRuns: propertyRuns(10_000) },
  );
});

test('what a form was made of is read from it', () => {
  const content = fc
    .array(fc.constantFrom('\r', '\n', '-', `--${B.slice(0, 4)}`, `--${B}y`, 'z', '\0', 'é'), { maxLength: 20 })
    .map((parts) => parts.join(''));
  const part = fc.record({ name: fc.constantFrom('model', 'prompt', 'size'), isFile: fc.boolean(), content });
  fc.assert(
    fc.property(fc.array(part, { maxLength: 10 }), (parts) => {
      const form = parts.map((one) => (one.isFile ? file(one.content, one.name) : field(one.name, one.content))).join('') + END;
      const facts = factsOf(form);
      const texts = parts.filter(({ isFile }) => !isFile);
      expect(facts.fields).toEqual(
        texts.filter(({ name }) => name !== 'prompt').map((one) => ({ name: one.name, value: one.content })),
      );
      expect(facts.files.map(({ bytes }) => bytes)).toEqual(
        parts.filter(({ isFile }) => isFile).map((one) => Buffer.byteLength(one.content)),
      );
      expect([facts.ended, facts.isIncomplete]).toEqual([true, false]);
    }),
    { numRuns: propertyRuns(1_000) },
  );
});

describe('a boundary', () => {
  test.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data; charset=utf-8; Boundary="gc0p4Jq0M2Yt08 jU534c0p"', 'gc0p4Jq0M2Yt08 jU534c0p'],
    ['multipart/form-data;boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW; x=y', '----WebKitFormBoundary7MA4YWxkTrZu0gW'],
    ['multipart/form-data; x="; boundary=no"; boundary="y\\es"', 'yes'],
    ['multipart/form-data ; boundary = abc ', 'abc'],
    [`multipart/form-data; boundary=${'b'.repeat(70)}`, 'b'.repeat(70)],
    [`multipart/form-data; boundary=${'b'.repeat(71)}`, undefined],
    ['multipart/form-data; boundary="a\r\nb"', undefined],
    ['multipart/form-data; boundary="é"', undefined],
    ['multipart/form-data; boundary=""', undefined],
    ['multipart/form-data; boundary="abc "', undefined],
    ['multipart/form-data; boundary="abc', undefined],
    ['multipart/form-data; boundary=', undefined],
    ['multipart/form-data', undefined],
    ['multipart/form-datas; boundary=abc', undefined],
    ['multipart/mixed; boundary=abc', undefined],
    ['application/json; boundary=abc', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('of %p is %p', (contentType, boundary) => {
    expect(boundaryOf(contentType)).toBe(boundary);
  });

  test.each(["'()+_,-./:=? x", '.*', '\\d+$&', '-----', '--', 'a--'])('%j separates parts', (boundary) => {
    const form = (field('model', `a\r\n--${B}`) + END).replaceAll(B, () => boundary).replace(`a\r\n--${boundary}`, 'a');
    expect(factsOf(form, boundary)).toMatchObject({ fields: [{ name: 'model', value: 'a' }], ended: true });
  });
});
