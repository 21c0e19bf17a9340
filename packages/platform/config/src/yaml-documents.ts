import { createRequire } from 'node:module';
import type * as yaml from 'yaml';

/** The documents of a YAML text, each with its errors. The parser (17 ms of CPU) is loaded with the first text, because many processes are
 *  configured by their environment alone. */
export function yamlDocuments(text: string): readonly yaml.Document.Parsed[] {
  const { parseAllDocuments } = createRequire(import.meta.url)('yaml') as typeof yaml;
  const documents = parseAllDocuments(text);
  return Array.isArray(documents) ? documents : [];
}
