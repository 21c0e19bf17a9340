import { usageError } from '@vitrine/command-line/usage-error';
import { messageOf } from '@vitrine/faults/fault';
import { storeEvidence, type StoreEvidence } from '@vitrine/registry/evidence/evidence';
import { extractPageEvidence } from '@vitrine/registry/evidence/extract-page-evidence';
import { readFile } from 'node:fs/promises';
import { prettifyError } from 'zod';

/** Evidence as JSON, or an HTML page, which is treated as a home page without headers and cookies. */
export async function readEvidenceFile(file: string, url: string): Promise<StoreEvidence> {
  const text = await attempt(() => readFile(file, 'utf8'), 'FILE cannot be read');
  if (!text.trimStart().startsWith('{')) {
    if (URL.parse(url) === null) throw usageError(`--url ${JSON.stringify(url)} is not a URL`);
    return { version: 1, pages: [extractPageEvidence({ html: text, url, pageClass: 'home' })], endpoints: {} };
  }
  const json = await attempt(() => JSON.parse(text) as unknown, 'FILE is neither JSON nor HTML');
  const result = storeEvidence.safeParse(json);
  if (!result.success) throw usageError(`FILE is not valid evidence: ${prettifyError(result.error)}`);
  return result.data;
}

/** The result of `read`; its failure is a usage error. */
async function attempt<T>(read: () => T | Promise<T>, failure: string): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw usageError(`${failure}: ${messageOf(error)}`);
  }
}
