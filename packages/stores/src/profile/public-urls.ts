/** Where people and programs reach this deployment; without a final slash. Spec: decisions, section 1, `public`. */
export interface PublicUrls {
  readonly api_url: string;
  readonly console_url: string;
  readonly docs_url: string;
}

/** The public page of a store. */
export function profileUrl({ console_url }: PublicUrls, domain: string): string {
  return `${console_url}/stores/${domain}`;
}

/** The public page of a technology. */
export function listingUrl({ console_url }: PublicUrls, slug: string): string {
  return `${console_url}/technologies/${slug}`;
}
