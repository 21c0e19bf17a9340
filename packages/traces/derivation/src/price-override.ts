import { issuePaths, issueText } from '@vitrine/config/issue-text';
import { readYaml } from '@vitrine/config/read-yaml';
import { Fault } from '@vitrine/faults/fault';
import { PROVIDERS } from '@vitrine/traces/trace-values';
import { hash } from 'node:crypto';
import { z } from 'zod';

const usd = z.number().min(0).max(1e6);
/** The fields of a model, by the names that the catalogue has for them. */
const PRICE_FIELDS = {
  input_usd_per_mtok: 'input_mtok',
  output_usd_per_mtok: 'output_mtok',
  cached_input_usd_per_mtok: 'cache_read_mtok',
  cache_write_usd_per_mtok: 'cache_write_mtok',
  cache_write_1h_usd_per_mtok: 'cache_write_1h_mtok',
  input_audio_usd_per_mtok: 'input_audio_mtok',
  cached_audio_usd_per_mtok: 'cache_audio_read_mtok',
  output_audio_usd_per_mtok: 'output_audio_mtok',
  input_image_usd_per_mtok: 'input_image_mtok',
  output_image_usd_per_mtok: 'output_image_mtok',
  audio_usd_per_hour: 'input_audio_hours',
  request_usd: 'request',
} as const;
type PriceField = keyof typeof PRICE_FIELDS;
const priceFields = Object.keys(PRICE_FIELDS) as PriceField[];

const overriddenModel = z
  .strictObject({
    provider: z.enum(PROVIDERS).exclude(['unknown']),
    match: z.string().min(1).max(256),
    ...(Object.fromEntries(priceFields.map((name) => [name, usd.optional()])) as Record<PriceField, z.ZodOptional<typeof usd>>),
    input_usd_per_mtok: usd,
    output_usd_per_mtok: usd,
  })
  .transform(({ provider, match, ...fields }) => ({
    provider,
    match,
    prices: Object.fromEntries(priceFields.map((name) => [PRICE_FIELDS[name], fields[name]])),
  }));
const overrideFile = z.strictObject({ models: z.array(overriddenModel).max(1000) });

/** Prices that override the catalogue's, and the hash that identifies them. */
export interface PriceOverride {
  readonly models: readonly z.output<typeof overriddenModel>[];
  readonly version: string;
}

/** Reads the prices that an operator sets, such as
 *
 *  ```yaml
 *  models:
 *    - provider: openai                 # or anthropic
 *      match: my-deployment-*           # a model's id, or its beginning and `*`; letter case is ignored, the first match counts
 *      input_usd_per_mtok: 2.5          # US dollars per million tokens
 *      output_usd_per_mtok: 10
 *      cached_input_usd_per_mtok: 1.25  # optional; without it cached input costs what other input does
 *      cache_write_usd_per_mtok: 3.125  # optional, likewise
 *  ```
 *  Further fields, all optional: `cache_write_1h_usd_per_mtok`, `input_audio_usd_per_mtok`, `cached_audio_usd_per_mtok`,
 *  `output_audio_usd_per_mtok`, `input_image_usd_per_mtok`, `output_image_usd_per_mtok`, `audio_usd_per_hour` (of exchanges that report seconds) and
 *  `request_usd`, a fee for each request.
 *  Faults: `invalid_price_override`, with the path of everything that is wrong. */
export function parsePriceOverride(text: string): PriceOverride {
  const { value, faults } = readYaml(text);
  if (faults.length > 0) throw invalidOverride(faults);
  const parsed = overrideFile.safeParse(value, { error: issueText });
  if (!parsed.success) throw invalidOverride(parsed.error.issues.flatMap(textsOf));
  const models = parsed.data.models;
  return { models, version: hash('sha256', JSON.stringify(models)).slice(0, 12) };
}

function invalidOverride(wrong: readonly string[]): Fault {
  return new Fault('invalid_price_override', { say: `The price override is invalid: ${wrong.join('; ')}` });
}

function textsOf(issue: z.core.$ZodIssue): string[] {
  return issuePaths(issue).map((path) => `${pathOf(path)}: ${issue.message}`);
}

function pathOf(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return text.replace(/^\./, '') || 'the document';
}
