import { issuePaths, issueText } from '@vitrine/config/issue-text';
import { yamlDocuments } from '@vitrine/config/yaml-documents';
import { Fault } from '@vitrine/faults/fault';
import { PROVIDERS } from '@vitrine/traces/trace-values';
import { hash } from 'node:crypto';
import { z } from 'zod';

const usdPerMillion = z.number().min(0).max(1e6);
const overriddenModel = z.strictObject({
  provider: z.enum(PROVIDERS).exclude(['unknown']),
  match: z.string().min(1).max(256),
  input_usd_per_mtok: usdPerMillion,
  output_usd_per_mtok: usdPerMillion,
  cached_input_usd_per_mtok: usdPerMillion.optional(),
  cache_write_usd_per_mtok: usdPerMillion.optional(),
});
const overrideFile = z.strictObject({ models: z.array(overriddenModel).max(1000) });

/** Prices that override the catalogue's, and the hash that identifies them. */
export interface PriceOverride {
  readonly models: readonly z.infer<typeof overriddenModel>[];
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
 *  Faults: `invalid_price_override`, with the path of everything that is wrong. */
export function parsePriceOverride(text: string): PriceOverride {
  const documents = yamlDocuments(text);
  const [document] = documents;
  if (document === undefined || documents.length !== 1) throw invalidOverride(['the file must contain one YAML document']);
  const [broken] = document.errors;
  if (broken !== undefined) throw invalidOverride([broken.message.split('\n', 1)[0] ?? 'not YAML']);
  const parsed = overrideFile.safeParse(document.toJS(), { error: issueText });
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
