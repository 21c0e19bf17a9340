import { Tokenizer } from 'htmlparser2';
import type { FetchedPageInput } from './element-evidence.ts';
import type { PageEvidence } from './evidence.ts';
import { PageReader } from './page-reader.ts';

/**
 * Reads the evidence of one page in one pass, in time linear in its length, whatever is in it. Pure. The text is not changed and nothing
 * is fetched or run. Spec: S8.8.
 */
export function extractPageEvidence(page: FetchedPageInput): PageEvidence {
  const reader = new PageReader(page);
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader);
  tokenizer.write(page.html);
  tokenizer.end();
  return reader.evidence();
}
