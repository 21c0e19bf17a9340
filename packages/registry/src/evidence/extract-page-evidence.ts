import { Tokenizer } from 'htmlparser2';
import { PageReader } from './page-reader.ts';
import type { PageClass, PageEvidence } from './evidence.ts';
import type { ResponseHeaders } from './response-evidence.ts';

/** A page as it was fetched: decoded to text, after redirects. */
export interface FetchedPageInput {
  readonly html: string;
  readonly url: string;
  readonly pageClass: PageClass;
  /** 200 where nothing else is said. */
  readonly status?: number;
  readonly headers?: ResponseHeaders;
  /** Names of Set-Cookie, never values. */
  readonly cookies?: readonly string[];
}

/**
 * Reads the evidence of one page in one pass, in time linear in its length, whatever is in it. Pure. The text is not changed and nothing
 * is fetched or run. Spec: decisions, section 4 (rules, evidence).
 */
export function extractPageEvidence(page: FetchedPageInput): PageEvidence {
  const reader = new PageReader(page);
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader);
  tokenizer.write(page.html);
  tokenizer.end();
  return reader.evidence();
}
