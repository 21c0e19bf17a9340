import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';

const REPOSITORY = new URL('../../../../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, REPOSITORY), 'utf8');
const DECLARATION = JSON.parse(read('packages/traces/derivation/testdata/estimate/human-rights.json')) as Readonly<
  Record<string, readonly string[]>
>;
const CJK = ['cmn_hans', 'cmn_hant', 'jpn', 'kor'];
const DOCUMENTS = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/operations.md', 'docs/failure-modes.md', 'docs/design/proxy.md'];
const SOURCES = [
  'packages/traces/derivation/src/json-scanner.ts',
  'packages/platform/privacy/src/scrub.ts',
  'packages/stores/registry/src/detection/detect.ts',
  'tidy.test.ts',
  'migrations/schema.sql',
  'charts/vitrine/values.yaml',
  'deploy/Dockerfile',
];
const DATA = ['docs/api/gateway.openapi.json', 'package.json', 'charts/vitrine/values.schema.json', 'tsconfig.json'];
// oxfmt-ignore
const EMOJI = ['😀', '😂', '🤔', '🎉', '👍', '👍🏽', '❤️', '🔥', '✅', '🚀', '👩‍💻', '👨‍👩‍👧', '🇩🇪', '🇯🇵', '🐙', '🍣', '⚠️', '🧪', '🪄', '☕', '🏳️‍🌈', '1️⃣'];

/** A part of a file from the beginning of a line on. */
function passages(paths: readonly string[]): fc.Arbitrary<string> {
  const texts = paths.map(read);
  return fc
    .tuple(fc.constantFrom(...texts), fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 100, max: 3_000 }))
    .map(([text, from, length]) => {
      const start = text.lastIndexOf('\n', from * Math.max(0, text.length - length)) + 1;
      return text.slice(start, start + length).toWellFormed();
    });
}

/** Sentences of one language. */
function sentences(languages: readonly string[]): fc.Arbitrary<string> {
  const pools = languages.map((language) =>
    DECLARATION[language]!.flatMap((article) => article.split(/(?<=[.!?;,。、，।])\s*/u)),
  );
  return fc.constantFrom(...pools).chain((pool) => {
    const joint = /[。、，]$/u.test(pool[0] ?? '') ? '' : ' ';
    return fc.array(fc.constantFrom(...pool), { minLength: 1, maxLength: 40, size: 'max' }).map((parts) => parts.join(joint));
  });
}

const bytes = (max: number) => fc.uint8Array({ minLength: 8, maxLength: max, size: 'max' }).map((array) => Buffer.from(array));
const noise = fc.oneof(
  bytes(600).map((buffer) => buffer.toString('base64')),
  bytes(300).map((buffer) => buffer.toString('hex')),
  fc.array(fc.uuid(), { minLength: 1, maxLength: 30, size: 'max' }).map((ids) => ids.join('\n')),
);
const figures = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 10_000_000 }).map(String),
      fc.double({ min: -1_000, max: 1_000, noNaN: true }).map((value) => value.toFixed(2)),
      fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString()),
    ),
    { minLength: 3, maxLength: 120, size: 'max' },
  )
  .chain((values) => fc.constantFrom(', ', ' ', '\n', '\t', ' | ', ';').map((joint) => values.join(joint)));
const json = fc
  .tuple(
    fc.array(
      fc.record({
        id: fc.uuid(),
        name: fc.constantFrom('Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Katherine Johnson'),
        quantity: fc.integer({ min: 0, max: 100_000 }),
        unit_price: fc.double({ min: 0, max: 1_000, noNaN: true }).map((value) => Math.round(value * 100) / 100),
        tags: fc.array(fc.constantFrom('new', 'on-sale', 'fragile', 'out_of_stock', 'clearance'), { maxLength: 4 }),
        shipped_at: fc.option(fc.constant('2026-03-01T12:30:00Z')),
        isActive: fc.boolean(),
      }),
      { minLength: 1, maxLength: 20, size: 'max' },
    ),
    fc.constantFrom(undefined, 2),
  )
  .map(([items, indent]) => JSON.stringify({ items }, null, indent));
const emoji = fc
  .tuple(sentences(['eng', 'spa', 'por_BR']), fc.array(fc.constantFrom(...EMOJI), { minLength: 1, maxLength: 30, size: 'max' }))
  .map(([text, symbols]) => {
    const words = text.split(' ');
    return words.flatMap((word, at) => (at < symbols.length ? [word, symbols[at]!] : [word])).join(' ');
  });

/** Texts by kind, as people and programs send them to models. */
export const TEXTS = {
  english: fc.oneof(passages(DOCUMENTS), sentences(['eng'])),
  prose: sentences(Object.keys(DECLARATION).filter((language) => !CJK.includes(language))),
  cjk: sentences(CJK),
  code: passages(SOURCES),
  json: fc.oneof(json, passages(DATA)),
  digits: figures,
  noise,
  emoji,
} satisfies Record<string, fc.Arbitrary<string>>;
export type TextKind = keyof typeof TEXTS;
