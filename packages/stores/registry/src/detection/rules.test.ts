import { expect, test } from '@jest/globals';
import { extractPageEvidence } from '../evidence/extract-page-evidence.ts';
import { REGISTRY_INDEX } from '../rules/rule-index.ts';
import { spellingOf, type TechnologyRules } from '../technology.ts';
import { TECHNOLOGY_RULES, VOCABULARY } from '../vocabulary.ts';
import { findSightings } from './find-sightings.ts';

interface Sample {
  readonly html?: string;
  readonly url?: string;
  readonly headers?: Record<string, string>;
  readonly cookies?: string[];
  readonly endpoints?: Record<string, string>;
}

/** A text that each pattern of the registry matches. */
const MATCHES: Readonly<Record<string, string>> = {
  '^/s/files/[0-9/]+/t/[0-9]+/assets/': '/s/files/1/2/t/3/assets/a.js',
  '^/(?:pub/)?static/(?:version[0-9]+/)?frontend/[^/]+/[^/]+/': '/static/version1/frontend/a/b/c.js',
  '^/(?:[^?]*/)?bundles/storefront/[^?]*\\.(?:js|css|woff2?)': '/bundles/storefront/assets/a.js',
  '^/themes/[^/]+/(?:assets/)?cache/': '/themes/a/cache/b.js',
  '^/shopifycloud/(?:shopify/assets/)?storefront': '/shopifycloud/storefront/a.js',
  '^/(?:algoliasearch|instantsearch\\.js|autocomplete\\.js)/': '/algoliasearch/3/a.js',
  '^/ajax/libs/(?:algoliasearch|instantsearch\\.js)/': '/ajax/libs/algoliasearch/4/a.js',
  '^/(?:algoliasearch|instantsearch\\.js|@algolia/[a-z-]+)@': '/algoliasearch@4/a.js',
  '^/@loophq/onstore-sdk@': '/@loophq/onstore-sdk@1/a.js',
  '^/npm/@loophq/onstore-sdk@': '/npm/@loophq/onstore-sdk@1/a.js',
  '^/universal/styles-compressed/commerce-[0-9a-f]{8}': '/universal/styles-compressed/commerce-0123abcd-min.css',
  '^/gtag/js\\?(?:[^#]*&)?id=AW-': '/gtag/js?id=AW-1',
  '^/gtag/js\\?(?:[^#]*&)?id=GTM-': '/gtag/js?id=GTM-1',
  '^/skin/frontend/[^/]+/': '/skin/frontend/a/b.js',
  '^/[nrs]-[0-9a-z]+/': '/s-a1/stencil/a.js',
  '^/(?:pub/)?static/(?:version[0-9]+/)?_cache/(?:merged|minified)/': '/static/_cache/merged/a.js',
  '^/universal/scripts-compressed/commerce-[0-9a-f]{8}': '/universal/scripts-compressed/commerce-0123abcd-min.js',
  '^/web/cache/[0-9]+_[0-9a-f]+\\.': '/web/cache/1_a.js',
  '^/theme/[0-9a-f]+/(?:css|js)/': '/theme/ab/js/a.js',
  '^/npm/(?:algoliasearch|instantsearch\\.js|@algolia/[a-z-]+)@': '/npm/algoliasearch@4/a.js',
  '^/shopifycloud/(?:shopify/assets/)?shopify_pay/': '/shopifycloud/shopify_pay/a.js',
  '^/gtag/js\\?(?:[^#]*&)?id=(?:G|GT|UA)-': '/gtag/js?id=G-A',
};

function pathOf(text: string): string {
  if (text.startsWith('^')) return MATCHES[text] ?? `no sample for ${text}`;
  return text.startsWith('*') ? `/a${text.slice(1)}b` : `${text}a`;
}

/** An address that an entry of `loads` or `refers` matches, with `host` changed by a function. */
function addressOf(text: string, change: (host: string) => string): string {
  const end = text.search(/[/ ]/);
  return end === -1
    ? `https://${change(text)}/a.js`
    : `https://${change(text.slice(0, end))}${pathOf(text.slice(end).trimStart())}`;
}

function codeOf(spelling: string): string {
  if (spelling.startsWith('id:')) return `x("${spelling.slice(3)}A1B2C3D4")`;
  if (spelling.startsWith('"')) return `x(${spelling}")`;
  if (spelling.endsWith('=')) return `window.${spelling} 1`;
  if (spelling.endsWith('(')) return `${spelling})`;
  return spelling.includes("('") ? `${spelling}')` : `${spelling};`;
}

const valueOf = (value: string): string => (value.startsWith('*') ? `a ${value.slice(1)} b` : `${value}a`);

/** A page with exactly one mark of a rule, and one that looks like it. */
function samplesOf(list: keyof TechnologyRules, text: string): { positive: Sample; negative: Sample } {
  const name = text.replace(/:.*$/, '');
  const script = (src: string): Sample => ({ html: `<script src="${src}"></script>` });
  switch (list) {
    case 'loads':
      return {
        positive: script(addressOf(text, (host) => `a.${host}`)),
        negative: script(addressOf(text, (host) => `a${host}.test`)),
      };
    case 'refers':
      return {
        positive: { html: `<link rel="stylesheet" href="${addressOf(text, (host) => host)}">` },
        negative: { html: `<link rel="stylesheet" href="${addressOf(text, (host) => `a${host}`)}">` },
      };
    case 'statics':
      return {
        positive: {
          html: `<link rel="stylesheet" href="//a.${text}/a.css"><script src="//a.${text}/a.js"></script><img src="//a.${text}/a.png">`,
        },
        negative: {
          html: `<link rel="stylesheet" href="//a.${text}/a.css"><script src="//b.${text}/a.js"></script><img src="//a.${text}/a.png">`,
        },
      };
    case 'data':
      return {
        positive: { html: `<script type="application/json">["https://a.${text}/"]</script>` },
        negative: { html: `<script type="application/json">["about https://a.${text}/"]</script>` },
      };
    case 'inline':
    case 'settings':
      return {
        positive: { html: `<script>${codeOf(text)}</script>` },
        negative: {
          html: `<script>// ${codeOf(text)}\n/* ${codeOf(text)} */ var a = 'see ${codeOf(text).replaceAll("'", '"')}';</script>`,
        },
      };
    case 'headers': {
      const value = text.includes(':') ? valueOf(text.slice(name.length + 1)) : 'a';
      const wire = text.endsWith('pagetype') ? 'theme;desc="1", pageType;desc="a"' : value;
      return { positive: { headers: { [name]: wire } }, negative: { headers: { [`x-a-${name}`]: wire } } };
    }
    case 'metas': {
      const [meta, value] =
        /^(?:p|oke):/.test(text) || !text.includes(':') ? [text, 'a'] : [name, valueOf(text.slice(name.length + 1))];
      return {
        positive: { html: `<meta name="${meta}" content="${value}">` },
        negative: { html: `<meta name="description" content="${meta} ${value}">` },
      };
    }
    case 'cookies':
      return { positive: { cookies: [text.replace('*', 'a')] }, negative: { cookies: [`a_${text}`] } };
    case 'paths':
      return {
        positive: script(text.startsWith('^') ? pathOf(text) : `/a${text}b.js`),
        negative: script(`https://other.test/a?b=${text}`),
      };
    case 'elements':
      return { positive: { html: `<${text}></${text}>` }, negative: { html: `&lt;${text}&gt;` } };
    case 'markup':
      return markupSamples(text);
    case 'apps':
      return text.startsWith('ext:')
        ? {
            positive: script(`https://cdn.shopify.com/extensions/a/${text.slice(4)}-1/assets/a.js`),
            negative: script(`https://cdn.shopify.com/extensions/a/a${text.slice(4)}-1/assets/a.js`),
          }
        : {
            positive: { html: `<!-- BEGIN app block: shopify://apps/${text}/blocks/a/b --><!-- END app block -->` },
            negative: { html: `<!-- app block: shopify://apps/${text}/ -->` },
          };
    case 'pixels': {
      if (text.startsWith('setting:')) {
        const name = text.slice(8);
        return {
          positive: { html: `<script>x = {"${name}":true}</script>` },
          negative: { html: `<script>x = {"${name}":false}</script>` },
        };
      }
      if (text === 'Pinterest') {
        return {
          positive: { html: '<script>trekkie.load({"Pinterest":{"id":"2619966178577"}})</script>' },
          negative: { html: '<script>x = {"Pinterest":{"id":"acme"}}</script>' },
        };
      }
      if (text.includes(' ')) {
        return {
          positive: { html: `<script>trekkie.load({"${text}":{"pixelIds":["1"]}})</script>` },
          negative: { html: `<script>trekkie.load({"${text}":{"pixelIds":[]}})</script>` },
        };
      }
      const setting = text.startsWith('client:') ? `"apiClientId":${text.slice(7)}` : text.startsWith('tag:') ? String.raw`"configuration":"{\"config\":\"{\\\"pixel_id\\\":\\\"${text.slice(4)}-1\\\"}\"}"` : String.raw`"configuration":"{\"${text.split(':')[0] ?? ''}\":\"${text.split(':')[1] ?? 'a'}\"}"`; // prettier-ignore
      return {
        positive: { html: `<script>x({webPixelsConfigList:[{${setting}}]})</script>` },
        negative: { html: `<script>/* webPixelsConfigList:[{${setting}}] */</script>` },
      };
    }
    case 'sites':
      return { positive: { url: `https://a.${text}/` }, negative: { url: `https://a${text}/` } };
    case 'endpoints':
      return { positive: { endpoints: { [text]: 'a' } }, negative: { endpoints: { [`a.${text}`]: 'a' } } };
    case 'links':
      return { positive: { html: `<a href="https://a.${text}/b">` }, negative: { html: `<a href="https://${text}/b">` } };
    case 'theme':
    case 'requires':
    case 'suppliedBy':
    case 'excludes':
      break; // The corpus has pages for those.
  }
  throw new Error(`${list} is not a list of texts of a channel`);
}

function markupSamples(text: string): { positive: Sample; negative: Sample } {
  const kind = text.slice(0, text.indexOf(':'));
  const value = text.slice(kind.length + 1);
  const html = {
    data: value.startsWith('pi-') ? `<svg aria-labelledby="${value}">` : `<p data-${value}>`,
    class: `<p class="a ${value}-b">`,
    id: `<script id="${value}"></script>`,
    type: `<script type="${value}"></script>`,
    form: `<form action="${value}">`,
  }[kind];
  return { positive: { html: html ?? '' }, negative: { html: `<p title="${value}">${value}</p>` } };
}

function slugsSeen(sample: Sample): Set<string> {
  const { html = '', url = 'https://shop.test/', headers = {}, cookies = [], endpoints = {} } = sample;
  const page = extractPageEvidence({ html, url, pageClass: 'home', headers, cookies });
  return new Set(
    findSightings({ version: 1, pages: [page], endpoints }, REGISTRY_INDEX).map(({ rule }) => `${rule.slug}: ${rule.id}`),
  );
}

const RULES = Object.entries(TECHNOLOGY_RULES).flatMap(([slug, technology]) =>
  (Object.entries(technology) as [keyof TechnologyRules, unknown][]).flatMap(([list, texts]) =>
    Array.isArray(texts) && list !== 'suppliedBy' && list !== 'excludes'
      ? (texts as string[]).map((text) => ({ slug, list, text }))
      : [],
  ),
);

test('every technology of the vocabulary has a rule', () => {
  const without = Object.entries(TECHNOLOGY_RULES).filter(([, rules]) => Object.keys(rules).length === 0);
  expect(without.map(([slug]) => slug)).toEqual([]);
});

test('every rule matches a page with its mark, but no lookalike', () => {
  const offenders = RULES.flatMap(({ slug, list, text }) => {
    const samples = samplesOf(list, spellingOf(text));
    const rule = `${slug}: ${list} ${text}`;
    const isMissed = !slugsSeen(samples.positive).has(rule);
    return [
      ...(isMissed ? [`${rule} is missed`] : []),
      ...(slugsSeen(samples.negative).has(rule) ? [`${rule} is invented`] : []),
    ];
  });
  expect(offenders).toEqual([]);
  expect(RULES.length).toBeGreaterThan(500);
});

test('patterns are anchored and have no nested repetition', () => {
  const patterns = RULES.flatMap(({ text }) => /\^.*$/.exec(spellingOf(text))?.[0] ?? []);
  expect(patterns.filter((pattern) => /[+*]\)?[+*]|\)[+*]/.test(pattern))).toEqual([]);
});

test('requirements, exclusions and suppliers in rules are platforms', () => {
  const named = Object.values(TECHNOLOGY_RULES).flatMap(({ requires, suppliedBy = [], excludes = [] }) => [
    ...(requires === undefined ? [] : [requires]),
    ...suppliedBy,
    ...excludes,
  ]);
  const platforms = VOCABULARY.filter(({ kind }) => kind === 'platform').map(({ slug }) => slug);
  expect(named.filter((slug) => !platforms.includes(slug))).toEqual([]);
});
