import { usageError } from '@vitrine/command-line/usage-error';
import { storeEvidence, type StoreEvidence } from '@vitrine/registry/evidence/evidence';
import { extractPageEvidence } from '@vitrine/registry/evidence/extract-page-evidence';
import { readFile } from 'node:fs/promises';
import { prettifyError } from 'zod';

/** Evidence as JSON, or a page as HTML, which is read as a home page without headers and cookies. */
export async function readEvidenceFile(file: string, url: string): Promise<StoreEvidence> {
  const text = await readText(file);
  if (!text.trimStart().startsWith('{')) {
    if (URL.parse(url) === null) throw usageError(`--url ${JSON.stringify(url)} is no URL`);
    return { version: 1, pages: [extractPageEvidence({ html: text, url, pageClass: 'home' })], endpoints: {} };
  }
  const result = storeEvidence.safeParse(parse(text));
  if (!result.success) throw usageError(`FILE is no evidence: ${prettifyError(result.error)}`);
  return result.data;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw usageError(`FILE cannot be read: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usageError(`FILE is neither JSON nor HTML: ${messageOf(error)}`);
  }
}
