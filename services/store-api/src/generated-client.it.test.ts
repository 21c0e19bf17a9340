import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reconcileUsage } from '@vitrine/stores/metering/usage-reports';
import { anyCharacter } from '@vitrine/testkit/testing/any-character';
import fc from 'fast-check';
import { startTestStoreApi, type TestApiKey, type TestRequest, type TestStoreApi } from './testing/start-test-store-api.ts';

const RUNS = 400;
/** The same requests in every run, so that a failure is caused by the change and never by chance. */
const SEED = 20_261_123;
const WITHOUT_LIMITS = { rpm: 1_000_000, concurrency: 1_000 };

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: { readonly enum?: readonly string[]; readonly type?: string };
}
interface DocumentedOperation {
  readonly path: string;
  readonly method: string;
  readonly parameters: readonly Parameter[];
  readonly hasBody: boolean;
}

let api: TestStoreApi;
let key: TestApiKey;
let operations: readonly DocumentedOperation[];
beforeAll(async () => {
  api = await startTestStoreApi();
  await api.addDemoStore();
  key = await api.addKey({ plan: 'partner', scopes: ['read:stores', 'write:scans'] });
  const text = `INSERT INTO plans (name, limits) VALUES ('partner', $1)`;
  await api.database.owner.execute(text, [JSON.stringify(api.limits('partner', WITHOUT_LIMITS))]);
  operations = operationsOf((await api.request('/v1/openapi.json')).json);
});
afterAll(async () => api[Symbol.asyncDispose]());

function operationsOf(document: Readonly<Record<string, unknown>>): DocumentedOperation[] {
  const paths = document['paths'] as Record<string, Record<string, { parameters?: Parameter[]; requestBody?: object }>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      path,
      method: method.toUpperCase(),
      parameters,
      hasBody: requestBody !== undefined,
    })),
  );
}

const inputs = fc.oneof(
  fc.constantFrom(
    'example.com',
    'www.example.com',
    'https://example.com/x',
    'unknown.com',
    'klaviyo',
    '__proto__',
    '..',
    '%',
    '',
  ),
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.domain(),
  fc.webUrl({ withQueryParameters: true }),
  fc.ipV6(),
);
const visible = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 140,
});
const bodies = fc.oneof(
  fc
    .record(
      { domains: fc.array(inputs, { maxLength: 110 }), refresh: fc.oneof(fc.boolean(), fc.string()), other: fc.jsonValue() },
      { requiredKeys: [] },
    )
    .map((body) => JSON.stringify(body)),
  fc.json(),
  fc.string({ unit: anyCharacter }),
);

function valueOf({ schema }: Parameter): fc.Arbitrary<string> {
  const words = schema.enum ?? [];
  const valid = words.length > 0 ? fc.constantFrom(...words) : schema.type === 'integer' ? fc.integer().map(String) : inputs;
  return fc.oneof(valid, inputs);
}

/** A request to one operation, with valid, invalid, missing and additional parameters. */
function requestTo({
  path,
  method,
  parameters,
  hasBody,
}: DocumentedOperation): fc.Arbitrary<{ path: string; options: TestRequest }> {
  const named = (where: Parameter['in']) => parameters.filter((parameter) => parameter.in === where);
  const pathParts = fc.record(Object.fromEntries(named('path').map((one) => [one.name, valueOf(one)])));
  const query = fc.record(
    Object.fromEntries([...named('query').map((one) => [one.name, valueOf(one)] as const), ['other', inputs]]),
    {
      requiredKeys: [],
    },
  );
  const headers = fc.record(Object.fromEntries(named('header').map(({ name }) => [name, visible])), { requiredKeys: [] });
  const type = fc.constantFrom('application/json', 'application/json', 'text/plain', 'application/json; charset=latin1');
  return fc.record({ pathParts, query, headers, body: bodies, type, usesKey: fc.nat(9) }).map((made) => {
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent((made.pathParts[name] ?? '').toWellFormed()),
    );
    const search = new URLSearchParams(textsOf(made.query));
    const withType = hasBody ? { 'Content-Type': made.type } : {};
    const options = {
      method,
      headers: { ...textsOf(made.headers), ...withType },
      ...(hasBody ? { body: made.body.toWellFormed() } : {}),
      ...(made.usesKey > 0 ? { token: key.token } : {}),
    };
    return { path: `${target}?${search.toString()}`, options };
  });
}

function textsOf(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value = '']) => [name, value.toWellFormed()]));
}

test('a client generated from the document never gets a 500, an HTML page or an undocumented response', async () => {
  const request = fc.nat(operations.length - 1).chain((n) => requestTo(operations[n] as DocumentedOperation));
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(request, async ({ path, options }) => {
      const { status, headers, text } = await api.request(path, options);
      seen.add(status);
      // Clients normalise a path of dots to another path.
      expect([path, status === 500]).toEqual([path, false]);
      expect(headers.get('x-request-id')).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
      if (text !== '') expect(headers.get('content-type')).toBe('application/json');
    }),
    { numRuns: RUNS, seed: SEED },
  );
  for (const status of [200, 400, 401, 404, 501]) expect(seen).toContain(status);
  expect(await reconcileUsage(api.database.owner)).toEqual([]);
});
