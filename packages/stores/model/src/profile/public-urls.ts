import { z } from 'zod';

/** Public URLs of this deployment, without a trailing slash. Spec: S3.31. */
export interface PublicUrls {
  readonly api_url: string;
  readonly console_url: string;
  readonly docs_url: string;
}

/** An origin with an optional path; paths are appended to it. */
const publicUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
  .refine((url) => !/[?#@]|\/$/.test(url), 'must not carry credentials, a query, a fragment or a final slash');

/** Configuration keys of every service that creates URLs; the same in all of them, because profiles are stored with their URLs. */
export const publicUrlKeys = {
  api_url: publicUrl.default('http://127.0.0.1:8081'),
  /** `api_url` unless given. */
  console_url: publicUrl.optional(),
  /** `/docs` below `api_url` unless given. */
  docs_url: publicUrl.optional(),
};

/** Every URL that responses and profiles have begins with one of these. */
export function publicUrlsOf(keys: z.infer<z.ZodObject<typeof publicUrlKeys>>): PublicUrls {
  const { api_url, console_url = api_url, docs_url = `${api_url}/docs` } = keys;
  return { api_url, console_url, docs_url };
}

/** The public page of a store. */
export function profileUrl({ console_url }: PublicUrls, domain: string): string {
  return `${console_url}/stores/${domain}`;
}

/** The public page of a technology. */
export function listingUrl({ console_url }: PublicUrls, slug: string): string {
  return `${console_url}/technologies/${slug}`;
}
