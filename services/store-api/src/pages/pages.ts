import { CATEGORIES, type Technology } from '@vitrine/registry/technology';
import type { PublicUrls } from '@vitrine/stores/profile/render-profile';
import { dateTimeOf } from '@vitrine/stores/resources/enumerations';
import type { Operation } from '../contract/operation.ts';

/** Text that is HTML already. */
interface Html {
  readonly html: string;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** HTML from a template, whose values are escaped unless they are HTML. */
function html(texts: TemplateStringsArray, ...values: readonly (string | number | null | Html | readonly Html[])[]): Html {
  return { html: texts.map((text, i) => text + (i < values.length ? rendered(values[i] ?? '') : '')).join('') };
}

/** A whole page; nothing in it is loaded or run. */
function page(title: string, body: Html): string {
  return `<!doctype html>${
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          body {
            max-width: 44rem;
            margin: 2rem auto;
            padding: 0 1rem;
            font:
              1rem/1.5 system-ui,
              sans-serif;
          }
          td,
          th {
            padding: 0.2rem 1rem 0.2rem 0;
            text-align: left;
            vertical-align: top;
          }
          pre {
            overflow-x: auto;
          }
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        ${body}
      </body>
    </html>`.html
  }`;
}

/** A table of names and values; what is null is not known. */
function facts(rows: readonly (readonly [name: string, value: string | number | null | Html])[]): Html {
  return html`<table>
    ${rows.map(
      ([name, value]) =>
        html`<tr>
          <th scope="row">${name}</th>
          <td>${value ?? 'not known'}</td>
        </tr>`,
    )}
  </table>`;
}

function rendered(value: string | number | Html | readonly Html[]): string {
  if (typeof value === 'object') return 'html' in value ? value.html : value.map((one) => one.html).join('');
  return String(value).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

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
  return page('Not found', html`<p>There is no ${what} here. This page makes no statement about the site.</p>`);
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
