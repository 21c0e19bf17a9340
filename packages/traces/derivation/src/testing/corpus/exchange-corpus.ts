import { readYaml } from '@vitrine/config/read-yaml';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { exactValueOf } from './exact-arithmetic.ts';

const CORPUS = join(import.meta.dirname, '../../../testdata/exchange-corpus');

const headers = z.record(z.string(), z.string()).default({});
const formPart = z.union([
  z.strictObject({ name: z.string(), value: z.string() }),
  z.strictObject({
    name: z.string(),
    filename: z.string(),
    type: z.string(),
    bytes: z.int().positive().optional(),
    base64: z.string().optional(),
  }),
]);
const event = z.union([
  z.strictObject({ event: z.string().optional(), data: z.unknown(), id: z.string().optional() }),
  z.strictObject({ comment: z.string() }),
]);
const body = {
  json: z.unknown().optional(),
  lines: z.array(z.unknown()).optional(),
  text: z.string().optional(),
};
const tokens = z.strictObject({
  input: z.int().default(0),
  output: z.int().default(0),
  total: z.int().default(0),
  cached: z.int().default(0),
  cache_write: z.int().default(0),
  cache_write_1h: z.int().default(0),
  reasoning: z.int().default(0),
  audio_input: z.int().default(0),
  audio_output: z.int().default(0),
  cached_audio: z.int().default(0),
  image_input: z.int().default(0),
  image_output: z.int().default(0),
});
/** A number that YAML has already read is an expression, too. */
const expression = z
  .union([z.string(), z.number()])
  .transform(String)
  .refine(isExpression, 'must be an expression of numbers with + - * / and parentheses');

const exchange = z.strictObject({
  request: z.strictObject({
    method: z.string().default('POST'),
    path: z.string().regex(/^\/(?:openai|anthropic)\//),
    headers,
    ...body,
    form: z.array(formPart).optional(),
  }),
  response: z.strictObject({
    status: z.int().default(200),
    headers,
    ...body,
    events: z.array(event).optional(),
    ends: z.enum(['complete', 'cut']).default('complete'),
  }),
  expected: z.strictObject({
    model: z.string(),
    usage: z.enum(['reported', 'partial', 'estimated', 'missing', 'undecodable']),
    cost: z.enum(['priced', 'estimated', 'unpriced', 'free', 'subscription']),
    tokens: tokens.prefault({}),
    fees: z.record(z.enum(['web_searches', 'file_searches', 'containers']), z.int().optional()).optional(),
    usd: expression.default('0'),
    upper_at_least: expression.optional(),
    upper_at_most: expression.optional(),
  }),
});

const about = { about: z.string().min(1), source: z.string().min(1) };
const corpusCase = z.union([
  z.strictObject({ ...about, exchanges: z.array(exchange).min(1) }),
  z.strictObject({ ...about, ...exchange.shape }).transform(({ about: text, source, ...only }) => ({
    about: text,
    source,
    exchanges: [only],
  })),
]);

/** One exchange with a provider, with tokens and price that were worked out by hand. */
export type CorpusExchange = z.infer<typeof exchange>;

/** A file of the corpus: one exchange, or several that belong together. */
export interface CorpusCase {
  /** `group/name`. */
  readonly name: string;
  readonly about: string;
  readonly exchanges: readonly CorpusExchange[];
}

/** All files of `testdata/exchange-corpus`. Throws with the file's name for one that does not have the form. */
export function readExchangeCorpus(): CorpusCase[] {
  return readdirSync(CORPUS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml'))
    .toSorted()
    .map((file) => {
      const { data, error } = corpusCase.safeParse(readYaml(readFileSync(join(CORPUS, file), 'utf8')).value);
      if (data === undefined) throw new Error(`${file}: ${z.prettifyError(error)}`);
      return { name: file.replace(/\.yaml$/, ''), about: data.about, exchanges: data.exchanges };
    });
}

function isExpression(text: string): boolean {
  try {
    exactValueOf(text);
    return true;
  } catch {
    return false;
  }
}
