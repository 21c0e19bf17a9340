import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const GOLDEN = new URL('../../../../../docs/api/gateway.openapi.json', import.meta.url);

type Document = {
  paths: Record<
    string,
    Record<
      string,
      {
        parameters?: { name: string; description?: string }[];
        requestBody?: { content: { 'application/json': { schema: object } } };
        responses: Record<string, { content?: { 'application/json': { schema: object } } }>;
      }
    >
  >;
};

let gateway: TestGateway;
let document: Document;
beforeAll(async () => {
  gateway = await startTestGateway();
  document = (await gateway.get('/api/openapi.json')) as Document;
});
afterAll(async () => gateway[Symbol.asyncDispose]());

test('docs/api/gateway.openapi.json equals the served document; npm run golden rewrites it', () => {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  expect(text).toBe(goldenText(GOLDEN, text));
});

describe('the description', () => {
  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
    );

  test('describes every parameter', () => {
    const silent = operations().flatMap(({ name, operation: { parameters = [] } }) =>
      parameters.filter(({ description = '' }) => description === '').map((parameter) => `${name} ${parameter.name}`),
    );
    expect(silent).toEqual([]);
  });

  test('describes every body and every response', () => {
    const nameless = operations().filter(({ operation: { requestBody, responses } }) =>
      [requestBody, ...Object.values(responses)].some(
        (part) => part?.content !== undefined && !('$ref' in part.content['application/json'].schema),
      ),
    );
    expect(nameless.map(({ name }) => name)).toEqual([]);
  });
});
