import { CATEGORIES } from '@vitrine/registry/categories';
import type { Technology } from '@vitrine/registry/technology';
import type { PublicUrls } from '@vitrine/stores/profile/public-urls';
import { dateTimeOf } from '@vitrine/stores/resources/scalars';
import type { Operation } from '../contract/operation.ts';
import { facts, html, page } from './html.ts';

/** The data of a store's public page. The profile costs a lookup. */
export interface StoreSummary {
  readonly domain: string;
  readonly name: string | null;
  readonly platform: string | null;
  readonly state: string;
  readonly last_completed_scan_at: number;
}

export function storePage(store: StoreSummary, platform: Technology | undefined, { api_url }: PublicUrls): string {
  const link = platform && html`<a href="/technologies/${platform.slug}">${platform.name}</a>`;
  return page(
    store.name ?? store.domain,
    html`${facts([
        ['Domain', store.domain],
        ['Platform', link ?? null],
        ['Status', store.state.replaceAll('_', ' ')],
        ['Last observed', dateTimeOf(store.last_completed_scan_at)],
      ])}
      <p>The whole profile:</p>
      <pre>curl -H "Authorization: Bearer $KEY" ${api_url}/v1/stores/${store.domain}</pre>`,
  );
}

export function technologyPage({ slug, name, kind, category, vendor, website }: Technology): string {
  return page(
    name,
    facts([
      ['Slug', slug],
      ['Kind', kind],
      ['Category', CATEGORIES[category]],
      ['Vendor', vendor],
      ['Website', website === null ? null : html`<a href="${website}" rel="nofollow noopener">${website}</a>`],
    ]),
  );
}

export function notFoundPage(what: string): string {
  return page('Not found', html`<p>There is no ${what} here. That is no statement about the site.</p>`);
}

/** Explains how to create a key, until there is a dashboard. */
export function keysPage(): string {
  return page(
    'API keys',
    html`<p>Keys are made, listed and revoked on the command line of the store API. The secret is shown once.</p>
      <pre>
npm run -s store-api -- key create --help
npm run -s store-api -- key list --help
npm run -s store-api -- key revoke --help</pre>
      <p>Send the key with each request, from servers only: <code>Authorization: Bearer svc_live_...</code></p>`,
  );
}

/** Placeholder page of login links until sign-in is available. A link stays unused. */
export function loginPage(): string {
  return page(
    'Sign in',
    html`<p>
        There is no console to sign in to yet, and your link was not used up. Until then whoever runs this service makes keys for
        you:
      </p>
      <pre>npm run -s store-api -- key create --help</pre>
      <p>See <a href="/settings/api-keys">API keys</a>.</p>`,
  );
}

export function docsPage(served: readonly Operation[], { api_url }: PublicUrls): string {
  return page(
    'Store Intelligence API',
    html`<p>
        The contract is <a href="/v1/openapi.json">/v1/openapi.json</a> (OpenAPI 3.1). Keys:
        <a href="/settings/api-keys">API keys</a>.
      </p>
      <pre>curl -H "Authorization: Bearer $KEY" ${api_url}/v1/account</pre>
      <table>
        <tr>
          <th>Operation</th>
          <th>Path</th>
          <th>Scope</th>
          <th>Costs</th>
        </tr>
        ${served.map(
          ({ operationId, method, path, summary, scope, units }) =>
            html`<tr>
              <td><strong>${operationId}</strong><br />${summary}</td>
              <td><code>${method} ${path}</code></td>
              <td>${scope}</td>
              <td>${units.length === 0 ? 'free' : units.join(', ')}</td>
            </tr>`,
        )}
      </table>`,
  );
}
