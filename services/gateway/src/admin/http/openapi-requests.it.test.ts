import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { rawTalk } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

// The description and the gateway have to refuse the same requests. Each value below is sent to each parameter and field, and the
// gateway has to accept or refuse it as described. Every response is compared with the description as well (`verifyResponses`).

type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: Schema;
}

interface Described {
  readonly method: string;
  /** Ids of missing resources, used as path parameters. */
  readonly path: string;
  readonly template: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
}

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

let gateway: TestGateway;
let operations: readonly Described[] = [];
beforeAll(async () => {
  gateway = await startTestGateway({ SVC_PROMETHEUS_ENABLED: 'true' });
  await fetch(`${gateway.url}/openai/v1/models`, { headers: { authorization: 'Bearer sk-0123456789abcdef' } });
  await gateway.traces(1);
  const document = (await gateway.get('/api/openapi.json')) as {
    paths: Record<
      string,
      Record<string, { parameters?: Parameter[]; requestBody?: { content: Record<string, { schema: Schema }> } }>
    >;
    components: { schemas: Record<string, Schema> };
  };
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema(document, 'openapi.json');
  operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path: template.replace('{id}', '0'.repeat(32)),
      template,
      parameters,
      body: requestBody?.content['application/json']?.schema,
    })),
  );
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const validators = new Map<Schema, ValidateFunction>();
function isInside(schema: Schema, value: unknown): boolean {
  const whole = JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/');
  const validate = validators.get(schema) ?? ajv.compile(JSON.parse(whole) as Schema);
  validators.set(schema, validate);
  return validate(value);
}

/** The names of the fields that a body may have. */
function fieldsOf(body: Schema): string[] {
  const described = ajv.getSchema(`openapi.json${String(body['$ref'])}`)?.schema as { properties: object } | undefined;
  return Object.keys(described?.properties ?? {});
}

/** Whether the description allows this text as a query parameter. */
function allows({ schema }: Parameter, text: string): boolean {
  // `allowEmptyValue`
  if (text === '') return true;
  return schema['type'] === 'integer' ? /^-?\d+$/.test(text) && isInside(schema, Number(text)) : isInside(schema, text);
}

const DAY = '2026-01-31';
const TEXTS = [
  ['', 'x', 'a b', '\n', '\u0000', 'null', '{}', "'", 'ü', '-', '.', '..', '/', '//', '%', 'openai', 'OPENAI'],
  ['provider', 'model', 'route', 'key', 'api_key_hash', 'hour', 'day', 'week', 'month', 'Day', ' day'],
  ['x'.repeat(1_024), 'x'.repeat(1_025), '😀'.repeat(1_024), '😀'.repeat(1_025), '\ufffd'],
  ['-1', '0', '1', '99', '100', '200', '201', '500', '501', '599', '600', '10000000', '10000001', '9'.repeat(20)],
  ['1.5', '1e1', '0x10', '1 ', 'NaN', 'Infinity', '-Infinity', '٣'],
  [DAY, '2026-02-29', '2024-02-29', '2026-1-31', '20260131', '0000-01-01', '9999-12-31', '10000-01-01', '-0001-01-01'],
  ['T12:00:00Z', 't12:00:00z', ' 12:00:00Z', 'T12:00:00', 'T12:00Z', 'T24:00:00Z', 'T23:59:60Z', 'T12:60:00Z'].map(
    (t) => DAY + t,
  ),
  [
    '.5Z',
    '.123456789012345678901234567890Z',
    '.Z',
    ',5Z',
    '+02:00',
    '-00:00',
    '+23:59',
    '-23:59',
    '+24:00',
    '+02:60',
    '+0200',
  ].map((rest) => `${DAY}T12:00:00${rest}`),
  ['0000-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59', '0099-06-01T00:00:00Z'],
  ['A'.repeat(22), `${'A'.repeat(21)}B`, `${'A'.repeat(21)}w`, `${'A'.repeat(22)}==`, 'A'.repeat(21), `${'-_'.repeat(10)}-g`],
  ['0'.repeat(32), 'f'.repeat(32), 'F'.repeat(32), '0'.repeat(31), 'g'.repeat(32)],
].flat();

test('every query parameter accepts the described values, and an error names it for all others', async () => {
  const wrong: string[] = [];
  let [accepted, refused] = [0, 0];
  for (const { method, path, parameters } of operations)
    for (const parameter of parameters.filter(({ in: where }) => where === 'query')) {
      for (const text of TEXTS) {
        const url = `${gateway.url}${path}?${parameter.name}=${encodeURIComponent(text)}`;
        const response = await fetch(url, { method });
        const { error } = (await response.json()) as { error?: string };
        const isAllowed = allows(parameter, text);
        if (isAllowed) accepted += 1;
        else refused += 1;
        const isRight = isAllowed
          ? [200, 404].includes(response.status)
          : response.status === 400 && error?.includes(parameter.name);
        if (isRight !== true)
          wrong.push(`${method} ${path} ${parameter.name}=${JSON.stringify(text.slice(0, 60))}: ${response.status} ${error}`);
      }
      const twice = await fetch(`${gateway.url}${path}?${parameter.name}=1&${parameter.name}=1`, { method });
      expect([twice.status, await twice.json()]).toEqual([400, { error: `${parameter.name} must be given once` }]);
    }
  expect(wrong).toEqual([]);
  expect(accepted).toBeGreaterThan(500);
  expect(refused).toBeGreaterThan(500);
});

test('a range between two milliseconds is valid and empty', async () => {
  const [from, to] = [`from=${DAY}T12:00:00.0001Z`, `to=${DAY}T12:00:00.0002Z`];
  const ranged = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'from'));
  expect(ranged.length).toBeGreaterThanOrEqual(8);
  for (const { path } of ranged) {
    expect([path, (await fetch(`${gateway.url}${path}?${from}&${to}`)).status]).toEqual([path, 200]);
    const backward = await fetch(`${gateway.url}${path}?${from.replace('.0001', '.0003')}&${to}`);
    expect([backward.status, await backward.json()]).toEqual([400, { error: 'to must be greater than or equal to from' }]);
  }
});

test('an unknown query parameter is refused by name in every operation', async () => {
  expect(operations.length).toBeGreaterThan(15);
  for (const { method, path, parameters } of operations) {
    const known = parameters.filter(({ in: where }) => where === 'query').map(({ name }) => name);
    const takes = known.length === 0 ? 'this path takes none' : `known parameters: ${known.join(', ')}`;
    for (const [query, named] of [
      ['nonsense=1', 'parameter "nonsense"'],
      ['nonsense', 'parameter "nonsense"'],
      ['nonsense=', 'parameter "nonsense"'],
      ['Limit=1', 'parameter "Limit"'],
      ['limit[]=1', 'parameter "limit[]"'],
      ['a=1&b=2&a=3', 'parameters "a", "b"'],
      ['__proto__=1', 'parameter "__proto__"'],
      ['=1', 'parameter ""'],
      [`${'&'.repeat(2_000)}nonsense=1`, 'parameter "nonsense"'],
    ]) {
      const response = await fetch(`${gateway.url}${path}?${query}`, { method });
      expect([path, response.status, await response.json()]).toEqual([path, 400, { error: `unknown query ${named}; ${takes}` }]);
    }
    expect((await fetch(`${gateway.url}${path}?`, { method })).status).not.toBe(400);
    expect((await fetch(`${gateway.url}${path}?&&`, { method })).status).not.toBe(400);
  }
});

test('the scrape accepts any query, because scrapers have their own parameters', async () => {
  expect((await fetch(`${gateway.url}/metrics?name[]=svc&format=text`)).status).toBe(200);
});

test('an invalid path segment is 404, never a server error', async () => {
  const ids = [...TEXTS.filter((text) => !['', '.', '..'].includes(text) && text.length < 200), 'x'.repeat(129)];
  for (const { method, template } of operations.filter(({ parameters }) => parameters.some(({ in: where }) => where === 'path')))
    for (const id of ids) {
      const response = await fetch(gateway.url + template.replace('{id}', encodeURIComponent(id)), { method });
      expect([method, template, id, response.status]).toEqual([method, template, id, 404]);
      await response.body?.cancel();
    }
});

describe('bodies', () => {
  const visible = (length: number) => `t${crypto.randomUUID().slice(0, 8)}`.padEnd(length, '-');
  const PLAIN: readonly unknown[] = [
    [null, true, false, 0, -1, 1.5, [], {}, [1], ['x'], { a: 1 }],
    ['', 'x', ' x ', 'a b', '.', '..', '...', 'ü', '\n', 'a/b', 'A-z_0.9:'],
  ].flat(1);
  const VALUES: readonly ((field: string) => unknown)[] = [
    ...PLAIN.map((value) => () => value),
    ...[64, 65, 128, 129, 256, 257, 1_024, 1_025, 2_048, 2_049].flatMap((length) => [
      // The id of a key is not a valid token.
      (field: string) => field.charAt(0).repeat(length),
      () => '😀'.repeat(length),
    ]),
    ...[23, 24, 256, 257].map((length) => () => visible(length)),
    () => `${visible(30)},x`,
    () => `${visible(30)} x`,
    () => ['proxy:write'],
    () => ['proxy:write', 'analytics:read', 'keys:manage', 'proxy:write'],
    () => ['proxy:read'],
    () => ['proxy:write', 7],
    () => Array<string>(64).fill('proxy:write'),
    () => Array<string>(65).fill('proxy:write'),
  ];

  test('every field accepts the described values and refuses all others', async () => {
    const wrong: string[] = [];
    let [accepted, refused] = [0, 0];
    for (const { method, path, body } of operations) {
      if (body === undefined) continue;
      const fields = fieldsOf(body);
      for (const field of [...fields, 'plan', 'unheard_of'])
        for (const make of VALUES) {
          const value = { [field]: make(field) };
          const response = await fetch(gateway.url + path, { method, body: JSON.stringify(value) });
          const { error } = (await response.json()) as { error?: string };
          const isAllowed = isInside(body, value);
          if (isAllowed) accepted += 1;
          else refused += 1;
          if (isAllowed === (response.status === 400))
            wrong.push(`${method} ${path} ${JSON.stringify(value).slice(0, 80)}: ${response.status} ${error}`);
          if (response.status === 400) expect(error).toMatch(new RegExp(`^(invalid (json|fork request) body$|${field}[.:])`));
          expect(error ?? '').not.toMatch(/Invalid |Too (?:small|big)|Unrecognized|expected .* received/);
        }
    }
    expect(wrong).toEqual([]);
    expect(accepted).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(200);
  });

  test.each(['[]', 'null', '3', '"x"', '{', '{}{}', '{} x', "{'a':1}", '{"__proto__":{}}'])('%s is refused', async (text) => {
    for (const { method, path, body } of operations) {
      if (body === undefined) continue;
      const response = await fetch(gateway.url + path, { method, body: text });
      expect([path, response.status]).toEqual([path, 400]);
      await response.body?.cancel();
    }
  });

  test('permissions are accepted in any letter case', async () => {
    const body = JSON.stringify({ permissions: [' PROXY:Write '] });
    const made = await fetch(`${gateway.url}/api/gateway-keys`, { method: 'POST', body });
    expect([made.status, await made.json()]).toMatchObject([201, { permissions: ['proxy:write'] }]);
  });
});

describe('paths', () => {
  test('match exactly: a trailing or doubled slash is another path', async () => {
    for (const { method, path } of [...operations.filter(({ path }) => path !== '/'), { method: 'GET', path: '/metrics' }])
      for (const other of [
        `${path}/`,
        `${path}/?limit=1`,
        ...(path === '/metrics' ? [] : [`${path}//`, path.replace('/api', '/api/')]),
      ]) {
        // Other HTTP clients would normalise the path.
        const text = await rawTalk(gateway.url, `${method} ${other} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
        expect([method, other, text.split('\r\n', 1)[0]]).toEqual([method, other, 'HTTP/1.1 404 Not Found']);
        expect(text).toContain('{"error":"not found"}');
      }
  });

  test('serve HEAD wherever they serve GET, and list it in Allow', async () => {
    const byPath = Map.groupBy(operations, ({ path }) => path);
    for (const [path, described] of byPath) {
      const methods = described.map(({ method }) => method);
      const allow = [
        ...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
        ...(path === '/' ? [] : ['OPTIONS']),
      ];
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'PUT', 'PATCH'].filter((one) => !allow.includes(one))) {
        const response = await fetch(gateway.url + path, { method });
        expect([path, method, response.status, response.headers.get('allow')]).toEqual([path, method, 405, allow.join(', ')]);
        await response.body?.cancel();
      }
      if (methods.includes('GET')) {
        const [head, get] = [await fetch(gateway.url + path, { method: 'HEAD' }), await fetch(gateway.url + path)];
        expect([path, head.status, await head.text()]).toEqual([path, get.status, '']);
        await get.body?.cancel();
      }
    }
  });
});
