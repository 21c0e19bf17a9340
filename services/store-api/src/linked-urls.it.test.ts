import { expect, test } from '@jest/globals';
import { URLS } from '@vitrine/stores/testing/store-states';
import { startTestStoreApi } from './testing/start-test-store-api.ts';

const OURS = Object.values(URLS).toSorted((a, b) => b.length - a.length);

/** Every string in a JSON value that is a URL of this deployment. */
function urlsIn(value: unknown): string[] {
  if (typeof value === 'string') return OURS.some((ours) => value.startsWith(ours)) ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(urlsIn) : [];
}

test('no URL of this deployment in a response is dead', async () => {
  await using api = await startTestStoreApi({ STORE_API_PUBLIC_DOCS_URL: `${URLS.api_url}/docs` });
  await api.addDemoStore();
  const { token } = await api.addKey({ plan: 'partner' });
  const paths = [
    '/',
    '/v1',
    '/v1/account',
    '/v1/usage',
    '/v1/stores/example.com',
    '/v1/technologies?limit=200',
    '/v1/technologies/klaviyo',
  ];
  const bodies = [];
  for (const path of paths) bodies.push((await api.request(path, { token })).json);
  const urls = [...new Set(bodies.flatMap(urlsIn))].filter((url) => url !== `${URLS.api_url}/graphql`);
  expect(urls.length).toBeGreaterThan(150);
  for (const url of urls) {
    const path = OURS.reduce((rest, ours) => rest.replace(ours, ''), url)
      .replace('{domain}', 'example.com')
      .replace('{slug}', 'klaviyo');
    const isOperation = path.startsWith('/v1/');
    const method = path === '/v1/stores/enrich' ? 'POST' : 'GET';
    const body = method === 'POST' ? { body: { domains: ['example.com'] } } : {};
    // Pages need no key.
    const { status, headers, text } = await api.request(path, { method, ...body, ...(isOperation ? { token } : {}) });
    expect([url, status]).toEqual([url, 200]);
    if (!isOperation && !['', '/', '/v1'].includes(path)) {
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      for (const [, href = ''] of text.matchAll(/href="(\/[^"]*)"/g))
        expect([href, (await api.request(href)).status]).toEqual([href, 200]);
    }
  }
});

test('a login link opens a placeholder page that repeats no part of the link', async () => {
  await using api = await startTestStoreApi();
  const { status, headers, text } = await api.request('/login?token=svc_login_secret');
  expect([status, headers.get('content-type'), text]).toEqual([
    200,
    'text/html; charset=utf-8',
    expect.stringContaining('your link was not used up'),
  ]);
  expect(text).not.toContain('svc_login');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
});

test('pages of missing objects are 404 and repeat no part of the path', async () => {
  await using api = await startTestStoreApi();
  for (const path of [
    '/stores/unknown.com',
    '/stores/%3Cscript%3Ealert(1)',
    '/stores/%ff',
    '/technologies/%3Cb%3E',
    '/technologies/constructor',
  ]) {
    const { status, headers, text } = await api.request(path);
    expect([path, status, headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8']);
    expect(text).not.toMatch(/script|<b>|constructor/);
  }
});
