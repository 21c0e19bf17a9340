import { createRequire } from 'node:module';
import type * as yaml from 'yaml';

/** The faults that people make, in words that do not quote the text, which may contain a secret. */
const RULES: Partial<Record<yaml.ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'unknown escape; in single quotes there are none',
  BAD_INDENT: 'the indentation is wrong, or a bracket is not closed',
  BAD_SCALAR_START: 'a text that begins with @ or ` needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a text that contains ": " needs quotes',
  DUPLICATE_KEY: 'the key is given twice',
  MISSING_CHAR: 'a quote, a bracket or a colon is missing',
  MULTILINE_IMPLICIT_KEY: 'a colon behind a key is missing',
  TAB_AS_INDENT: 'a tab cannot indent; use spaces',
};
const MAX_COPIES = 100;

/** The value of a YAML text with one document, and what is wrong with the text. The value is undefined if the text cannot be parsed, or is empty.
 *  The parser (17 ms of CPU) is loaded with the first text, because many processes are configured by their environment alone. */
export function readYaml(text: string): { readonly value: unknown; readonly faults: readonly string[] } {
  const { parseAllDocuments } = createRequire(import.meta.url)('yaml') as typeof yaml;
  const documents = [...parseAllDocuments(text)];
  const faults = documents.flatMap(({ errors }) => errors.map(faultOf));
  if (faults.length > 0) return { value: undefined, faults };
  const single = documents.length > 1 ? ['must contain one YAML document'] : [];
  try {
    return { value: documents[0]?.toJS({ maxAliasCount: MAX_COPIES }), faults: single };
  } catch {
    const alias = `an alias has no anchor before it, or makes more than ${MAX_COPIES} copies`;
    return { value: undefined, faults: [...single, alias] };
  }
}

function faultOf({ code, linePos: [at] = [{ line: 1, col: 1 }] }: yaml.YAMLParseError): string {
  return `line ${at.line}, column ${at.col}: ${RULES[code] ?? 'is not valid YAML'}`;
}
