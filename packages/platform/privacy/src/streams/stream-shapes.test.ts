import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import { findCredentials } from '../scrub.ts';
import fc from 'fast-check';
import type { BodyKind } from '../redaction.ts';
import { parseEvents, randomOf, readJsonLines, readSse, writeJson, writeSse, type SseStyle } from './testing/stream-framing.ts';
import { joinTexts, SINGLE_SHAPES, TURN_SHAPES, valueAt, type Event, type StreamShape } from './testing/stream-shapes.ts';
import { noFindings } from '../findings.ts';
import { findEmails, findPhones, findSsns } from '../personal-data.ts';
import { openPrivacyContext } from '../privacy-context.ts';
import { Redactor } from '../redactor.ts';
import { TEST_RULES } from '../testing/test-rules.ts';

const tools = openPrivacyContext(TEST_RULES);
const redacted = (text: string, kind: BodyKind = 'sse') => {
  const some = new Redactor(tools, 'default');
  return { text: some.body(text, kind), counts: some.counts };
};
const holds = (text: string) => [findEmails, findPhones, findSsns, findCredentials].some((find) => find(text).length > 0);

const SECRETS = [
  ['email', 'alice@example.com', '[EMAIL]'],
  ['phone', '+49 151 123 456 78', '[PHONE]'],
  ['phone', '(415) 555-0100', '[PHONE]'],
  ['ssn', '123-45-6789', '[SSN]'],
  ['token_like', 'sk-proj-canary123456', '[TOKEN]'],
  ['token_like', 'AKIAIOSFODNN7EXAMPLE', '[TOKEN]'],
  ['token_like', 'SG.abcdefghijklmnopqrst.abcdefghijklmnopqrstuvwxyz012345', '[TOKEN]'],
  ['token_like', `-----BEGIN PRIVATE KEY-----\n${'abcd'.repeat(16)}\n-----END PRIVATE KEY-----`, '[TOKEN]'],
  ['token_like', 'redis://bob:hunter2,(3)@h.example.com', 'redis://bob:[TOKEN]@h.example.com'],
] as const;
const PLAIN: SseStyle = {
  lineEnd: '\n',
  hasByteOrderMark: false,
  hasOtherFields: false,
  hasLastBlankLine: true,
  spaceAfterColon: true,
};
const ALL_SHAPES = [...TURN_SHAPES, ...SINGLE_SHAPES].map((shape) => [shape.name, shape] as const);

/** Secrets for a shape: all of them for one shape, and each of them for some shapes, because a shape does not affect what is found. */
const secretsFor = (shape: StreamShape) => {
  const at = ALL_SHAPES.findIndex(([name]) => name === shape.name);
  return SECRETS.filter((_, of) => at === 0 || of === at % SECRETS.length || of === (at + 2) % SECRETS.length);
};
/** A text in a stream format. */
const carried = (shape: StreamShape, text: string) => (shape.isJson === true ? JSON.stringify({ to: text, n: 1 }) : text);
/** Every way to cut a text in two, and one that leaves single characters. */
const cuts = (text: string) => [
  ...Array.from({ length: text.length - 1 }, (_, at) => [text.slice(0, at + 1), text.slice(at + 1)]),
  Array.from(text),
];

describe('a finding split anywhere is redacted, but not the text around it:', () => {
  test.each(ALL_SHAPES)('%s', (_, shape) => {
    for (const [kind, secret, placeholder] of secretsFor(shape)) {
      const all = cuts(carried(shape, `to ${secret}, then`));
      const stored = all.map((fragments) => {
        const events = fragments.map((fragment, at) => JSON.stringify(shape.event(fragment, 0, at)));
        const { text, counts } = redacted(writeSse(events, PLAIN));
        const after = parseEvents(readSse(text));
        return { texts: [...joinTexts(shape, after).values()], events: after.length, counts };
      });
      const texts = [carried(shape, `to ${placeholder}, then`)];
      const counts = { ...noFindings(), [kind]: 1 };
      expect(stored).toEqual(all.map(({ length }) => ({ texts, events: length, counts })));
    }
  });

  test.each(ALL_SHAPES)('%s, in lines', (_, shape) => {
    for (const [, secret] of secretsFor(shape)) {
      const stored = cuts(carried(shape, `to ${secret}, then`)).flatMap((fragments) => {
        const lines = fragments.map((fragment, at) => `${JSON.stringify(shape.event(fragment, 0, at))}\n`).join('');
        return (['json', undefined] as const).map((kind) => {
          const after = parseEvents(readJsonLines(redacted(lines, kind).text));
          const [joined = ''] = joinTexts(shape, after).values();
          return joined;
        });
      });
      expect(stored.filter(holds)).toEqual([]);
      expect(stored.filter((text) => !/to .*\[[A-Z]+\].*, then/s.test(text))).toEqual([]);
    }
  });

  test.each(TURN_SHAPES.map((shape) => [shape.name, shape] as const))('%s, two alternating texts', (_, shape) => {
    for (const [, secret, placeholder] of secretsFor(shape)) {
      const all = cuts(carried(shape, `to ${secret}, then`));
      const others = Array.from(carried(shape, 'not a secret at all, and longer than that'));
      const stored = all.map((fragments) => {
        const both = fragments.flatMap((fragment, at) => [
          shape.event(fragment, 0, 2 * at),
          shape.event(others[at] ?? '', 1, 2 * at + 1),
        ]);
        const after = parseEvents(
          readSse(
            redacted(
              writeSse(
                both.map((event) => JSON.stringify(event)),
                PLAIN,
              ),
            ).text,
          ),
        );
        return [...joinTexts(shape, after).values()];
      });
      const text = carried(shape, `to ${placeholder}, then`);
      expect(stored).toEqual(all.map(({ length }) => [text, others.slice(0, length).join('')]));
    }
  });
});

describe('a stream may be formatted in any way:', () => {
  const shape = TURN_SHAPES[0]!;
  const fragments = ['to ali', 'ce@exam', 'ple.com, then'];
  const events = fragments.map((fragment, at) => shape.event(fragment, 0, at));
  const expectRedacted = (text: string) =>
    expect([...joinTexts(shape, parseEvents(readSse(redacted(text).text))).values()]).toEqual(['to [EMAIL], then']);

  test.each([
    ['lines that end with CR LF', { lineEnd: '\r\n' }],
    ['lines that end with CR', { lineEnd: '\r' }],
    ['a byte order mark', { hasByteOrderMark: true }],
    ['comments and ids', { hasOtherFields: true }],
    ['no blank line at the end', { hasLastBlankLine: false }],
    ['no space after data:', { spaceAfterColon: false }],
  ])('%s', (_, style) => {
    expectRedacted(
      writeSse(
        events.map((event) => JSON.stringify(event)),
        { ...PLAIN, ...style },
      ),
    );
  });

  test('several data lines per event', () => {
    for (const lineEnd of ['\n', '\r\n', '\r'])
      expectRedacted(
        writeSse(
          events.map((event) => JSON.stringify(event, null, 1)),
          { ...PLAIN, lineEnd, hasOtherFields: true },
        ),
      );
  });

  test.each([
    ['spaces around a colon', (json: string) => json.replaceAll('":', '" : ')],
    ['tabs before a value', (json: string) => json.replaceAll('":', '":\t\t')],
    ['an @ as an escape', (json: string) => json.replaceAll('@', String.raw`\u0040`)],
    ['a name with escapes', (json: string) => json.replaceAll('content', String.raw`c\u006fntent`)],
  ])('%s', (_, rewrite) => {
    expectRedacted(
      writeSse(
        events.map((event) => rewrite(JSON.stringify(event))),
        PLAIN,
      ),
    );
    // Events may be formatted differently.
    expectRedacted(
      writeSse(
        events.map((event, at) => (at % 2 === 0 ? rewrite : String)(JSON.stringify(event))),
        PLAIN,
      ),
    );
  });

  test('split surrogate pairs', () => {
    const text = '\u{1f600}alice@example.com\u{1f600}';
    const cut = [text.slice(0, 1), text.slice(1, 9), text.slice(9, -1), text.slice(-1)];
    const { text: after } = redacted(
      writeSse(
        cut.map((fragment, at) => JSON.stringify(shape.event(fragment, 0, at))),
        PLAIN,
      ),
    );
    expect([...joinTexts(shape, parseEvents(readSse(after))).values()]).toEqual(['\u{1f600}[EMAIL]\u{1f600}']);
  });

  test('a denied field with its name and its value on separate lines', () => {
    const { text } = redacted('data: {"a":\ndata: {"password":\ndata:  "hunter2",\ndata: "secret": {"b":\ndata: 1}}}\n\n');
    expect(parseEvents(readSse(text))).toEqual([{ a: { password: '[FIELD]', secret: '[FIELD]' } }]);
  });

  test('under another content type', () => {
    const stream = writeSse(
      events.map((event) => JSON.stringify(event)),
      PLAIN,
    );
    for (const kind of ['json', undefined] as const)
      expect([...joinTexts(shape, parseEvents(readSse(redacted(stream, kind).text))).values()]).toEqual(['to [EMAIL], then']);
    const json = JSON.stringify({ a: 1, error: { password: 'hunter2' } }, null, 1).replace(': "', ':\n"');
    expect(JSON.parse(redacted(json, 'sse').text)).toEqual({ a: 1, error: { password: '[FIELD]' } });
  });
});

describe('separate texts are not joined:', () => {
  const stream = (...events: Event[]) =>
    writeSse(
      events.map((event) => JSON.stringify(event)),
      PLAIN,
    );
  const lines = (...events: Event[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');

  test('two choices, two items, two blocks', () => {
    for (const shape of TURN_SHAPES) {
      const text = stream(shape.event('bob@exa', 0, 0), shape.event('mple.com', 1, 1));
      expect(redacted(text).text).toBe(text);
    }
  });

  test('the audio of an item and its transcript', () => {
    const place = { item_id: 'i', output_index: 0, content_index: 0 };
    const audio = { type: 'response.audio.delta', ...place, delta: 'UklGRg==' };
    const said = (delta: string) => ({ type: 'response.audio_transcript.delta', ...place, delta });
    const after = parseEvents(readSse(redacted(stream(said('bob@exa'), audio, said('mple.com'))).text));
    expect(after).toEqual([said('[EMAIL]'), audio, said('')]);
  });

  test('values repeated by all events', () => {
    const chunk = (content: string) => ({ id: 'a-12', user: 'x-415-555-', choices: [{ index: 0, delta: { content } }] });
    const text = stream(chunk('a'), chunk('b'), chunk('c'));
    expect(redacted(text).text).toBe(text);
  });

  test('rows of a file keep the text next to a finding in the previous row', () => {
    const text = lines({ c: 'write to bob@example.com' }, { c: 'call 415-555-0100' }, { c: '123-45-6789' }, { c: '1 more' });
    expect(redacted(text, 'json').text).toBe(
      lines({ c: 'write to [EMAIL]' }, { c: 'call [PHONE]' }, { c: '[SSN]' }, { c: '1 more' }),
    );
  });

  test('the complete value of a denied field in a row is redacted', () => {
    const row = (token: string) => ({ args: JSON.stringify({ token, n: 1 }) });
    const text = lines(row('hunter2 bob@example.com'), row('x'));
    expect(redacted(text, 'json').text).toBe(lines(row('[FIELD]'), row('[FIELD]')));
  });

  test('complete texts in events of a stream are redacted separately', () => {
    const quote = (cited_text: string) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'citations_delta', citation: { type: 'char_location', cited_text, document_index: 0 } },
    });
    const { text } = redacted(stream(quote('123-45-6789'), quote('219-09-9999 x'), quote('123-45-6789')));
    expect(text).not.toMatch(/\d{3}-\d\d/);
  });

  test('partial fields are kept: JSON in fragments stays JSON', () => {
    const shape = TURN_SHAPES.find((one) => one.isJson)!;
    for (const args of ['{"token":null,"a":1}', '{"token":"","a":1}', '{"token":true}', '{"token":"[FIELD]"}'])
      for (const fragments of cuts(args)) {
        const text = stream(...fragments.map((fragment, at) => shape.event(fragment, 0, at)));
        expect(redacted(text).text).toBe(text);
      }
  });
});

test('an event that repeats the whole text is redacted like the fragments', () => {
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const part = (text: string) => ({ type: 'output_text', text, annotations: [] });
  const events = (first: string, second: string, whole: string) => [
    { type: 'response.content_part.added', ...place, part: part('') },
    { type: 'response.output_text.delta', ...place, delta: first, sequence_number: 4 },
    { type: 'response.output_text.delta', ...place, delta: second, sequence_number: 5 },
    { type: 'response.output_text.done', ...place, text: whole },
    { type: 'response.content_part.done', ...place, part: part(whole) },
    { type: 'response.output_item.done', output_index: 0, item: { id: 'msg_1', content: [part(whole), part('Second.')] } },
    { type: 'response.completed', response: { output: [{ id: 'msg_1', content: [part(whole), part('Second.')] }], tools: [] } },
  ];
  const stream = (all: Event[]) =>
    writeSse(
      all.map((event) => JSON.stringify(event)),
      PLAIN,
    );
  const { text, counts } = redacted(stream(events('to bob@exa', 'mple.com', 'to bob@example.com')));
  expect(text).toBe(stream(events('to [EMAIL]', '', 'to [EMAIL]')));
  expect(counts.email).toBe(5);
});

test('the start of a block contains the first fragment of its text', () => {
  const events = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'to bob@exa' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'mple.com' } },
  ];
  const after = parseEvents(
    readSse(
      redacted(
        writeSse(
          events.map((event) => JSON.stringify(event)),
          PLAIN,
        ),
      ).text,
    ),
  );
  expect(JSON.stringify(after)).not.toMatch(/exa|mple/);
});

test('no text of a cut stream ends with half of a secret', () => {
  const shape = TURN_SHAPES[0]!;
  for (const [, secret] of SECRETS) {
    for (let length = 1; length < secret.length; length += 1) {
      const events = Array.from(`it is ${secret.slice(0, length)}`).flatMap((fragment, at) => [
        shape.event(fragment, 0, at),
        shape.event('a', 1, at),
      ]);
      const text = writeSse(
        events.map((event) => JSON.stringify(event)),
        PLAIN,
      );
      const cut = new Redactor(tools, 'default').body(text, 'sse', true);
      const stored = joinTexts(shape, parseEvents(readSse(cut))).get('0');
      expect(stored?.replaceAll(/-----[A-Z -]*\s?/g, '')).toMatch(/^it is (redis)?\(?(\[\w+\]\s?)?$|^it is$/);
    }
  }
});

describe('any stream', () => {
  const WORDS = [
    'The',
    'répondre',
    'a "quoted" word',
    'C:\\temp',
    '\u{1f600}',
    '42',
    '3.14',
    '2026-01-02',
    'x = {"a": [1]}',
    'a/b',
    'line\nbreak',
  ];
  const words = (more: readonly string[]) => fc.array(fc.constantFrom(...WORDS, ...more), { minLength: 1, maxLength: 8 });
  const style = fc.record<SseStyle>({
    lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
    hasByteOrderMark: fc.boolean(),
    hasOtherFields: fc.boolean(),
    hasLastBlankLine: fc.boolean(),
    spaceAfterColon: fc.boolean(),
  });
  const OTHERS: Event[] = [{ type: 'ping' }, { ...TURN_SHAPES[0]!.event('', 0, 0), choices: [], usage: { total_tokens: 7 } }];

  /** Events of one or two alternating texts, split anywhere, with others between them. */
  const streamOf = (shape: StreamShape, texts: readonly string[], seed: number): Event[] => {
    const random = randomOf(seed);
    const rests = texts.map((text) => carried(shape, text));
    const events: Event[] = [];
    while (rests.some((rest) => rest !== '')) {
      const text = random(rests.length);
      const rest = rests[text] ?? '';
      if (rest === '') continue;
      const length = 1 + random(random(3) === 0 ? rest.length : Math.min(4, rest.length));
      rests[text] = rest.slice(length);
      if (random(10) === 0) events.push(OTHERS[random(OTHERS.length)]!);
      events.push(shape.event(rest.slice(0, length), text, events.length));
    }
    return events;
  };
  const written = (events: readonly Event[], seed: number, framing: SseStyle | undefined) => {
    const random = randomOf(seed + 1);
    if (framing !== undefined)
      return writeSse(
        events.map((event) => writeJson(event, random)),
        framing,
      );
    return events.map((event) => `${writeJson(event, random, [' ', '\t', '\r'])}\n`).join('');
  };
  const cases = (more: readonly string[]) =>
    fc.record({
      shape: fc.constantFrom(...TURN_SHAPES, ...SINGLE_SHAPES.slice(0, -1)),
      texts: fc.tuple(words(more), words(more)).map((both) => both.map((one) => one.join(' '))),
      seed: fc.nat(1_000_000),
      framing: fc.option(style, { nil: undefined }),
    });
  const textsOf = (shape: StreamShape, texts: string[]) => (SINGLE_SHAPES.includes(shape) ? texts.slice(0, 1) : texts);
  /** An event without its fragment. */
  const restOf = (shape: StreamShape, event: Event): unknown =>
    JSON.parse(
      JSON.stringify(event, (key, value: unknown) =>
        value === valueAt(event, shape.path) && key === shape.path.at(-1) ? '' : value,
      ),
    );

  test('is stored without personal data, with all of its events and other content', () => {
    fc.assert(
      fc.property(cases(SECRETS.map(([, secret]) => secret)), ({ shape, texts, seed, framing }) => {
        const events = streamOf(shape, textsOf(shape, texts), seed);
        const { text } = redacted(written(events, seed, framing), framing === undefined ? 'json' : 'sse');
        const after = parseEvents(framing === undefined ? readJsonLines(text) : readSse(text));
        expect(after.map((event) => restOf(shape, event))).toEqual(events.map((event) => restOf(shape, event)));
        const [before, kept] = [joinTexts(shape, events), joinTexts(shape, after)];
        expect([...kept.keys()]).toEqual([...before.keys()]);
        for (const joined of kept.values()) {
          expect(holds(joined)).toBe(false);
          if (shape.isJson === true) expect(JSON.parse(joined)).toMatchObject({ n: 1 });
        }
      }),
      { numRuns: propertyRuns(300), seed: 12 },
    );
  });

  test('without personal data is stored byte for byte', () => {
    fc.assert(
      fc.property(
        cases(['x@', 'me@home', '+1', 'sk-', '12-34', 'bob@exa', 'mple.com', '123-45-', '-6789']),
        ({ shape, texts, seed, framing }) => {
          const plain = textsOf(shape, texts);
          fc.pre(!plain.some(holds));
          const text = written(streamOf(shape, plain, seed), seed, framing);
          expect(redacted(text, framing === undefined ? 'json' : 'sse')).toEqual({ text, counts: noFindings() });
        },
      ),
      { numRuns: propertyRuns(300), seed: 12 },
    );
  });
});
