import { describe, expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import fc from 'fast-check';
import { inspect } from 'node:util';
import { z } from 'zod';
import { parseDuration } from './durations.ts';
import { issueText } from './issue-text.ts';
import { leavesOf } from './leaves.ts';
import { partialValue } from './partial-value.ts';
import { inspectConfig, readConfig } from './read-config.ts';
import { Secret } from './secret.ts';

const schema = z.strictObject({
  server: z.strictObject({ host: z.string().default('0.0.0.0'), port: z.int().min(1).max(65535).default(8080) }).prefault({}),
  tracing: z.strictObject({ capture_bodies: z.boolean().default(false) }).prefault({}),
  detectors: z.array(z.enum(['email', 'phone'])).default([]),
});
const read = (text: string, env: Record<string, string> = {}) =>
  readConfig(schema, { yaml: { path: 'vitrine.yaml', text }, env, prefix: 'SVC_' });

function refusal(text: string, env: Record<string, string> = {}): string {
  try {
    read(text, env);
  } catch (error) {
    expect(codeOf(error)).toBe('invalid_config');
    return messageOf(error);
  }
  throw new Error('was accepted');
}

describe('readConfig', () => {
  test.each(['', '# nothing yet\n', '---\n'])('defaults apply to missing keys, and the result is frozen: %j', (text) => {
    const config = read(text);
    expect(config).toEqual({ server: { host: '0.0.0.0', port: 8080 }, tracing: { capture_bodies: false }, detectors: [] });
    expect(Object.isFrozen(config.server)).toBe(true);
  });

  test('environment is applied after YAML and empty variables are ignored', () => {
    const env = { SVC_SERVER_PORT: '9', SVC_TRACING_CAPTURE_BODIES: 'true', SVC_SERVER_HOST: '', SVC_DETECTORS: 'email, phone' };
    expect(read('server: {host: h, port: 1}', env)).toEqual({
      server: { host: 'h', port: 9 },
      tracing: { capture_bodies: true },
      detectors: ['email', 'phone'],
    });
  });

  test('YAML wins over defaults of the caller', () => {
    const defaults = { server: { host: 'below', port: 1 } };
    const source = { defaults, yaml: { path: 'y', text: 'server: {port: 2}' }, env: {}, prefix: 'SVC_' };
    expect(readConfig(schema, source).server).toEqual({ host: 'below', port: 2 });
  });

  test('every fault is reported at once with its path and its variable', () => {
    const said = refusal('server: {port: 0, prot: 1}\nextra: 1\ntracing: {capture_bodies: maybe}', { SVC_SERVER_PROT: '1' });
    expect(said).toMatch(/has 5 faults/);
    expect(said).toMatch(/server\.port \(SVC_SERVER_PORT\): /);
    expect(said).toMatch(/server\.prot: unknown key/);
    expect(said).toMatch(/ extra: unknown key/);
    expect(said).toMatch(/tracing\.capture_bodies \(SVC_TRACING_CAPTURE_BODIES\): /);
    expect(said).toMatch(/SVC_SERVER_PROT: unknown variable/);
  });

  test('an item of a list is reported with the variable of the list', () => {
    expect(refusal('', { SVC_DETECTORS: 'email, fax' })).toMatch(/detectors\.1 \(SVC_DETECTORS\): /);
  });

  test('a missing mapping is reported by its required keys, with their variables', () => {
    const needs = z.strictObject({
      storage: z.strictObject({ dsn: z.string(), tls: z.strictObject({ ca: z.string() }), size: z.int().default(1) }),
      log: z.strictObject({ level: z.string().default('info') }),
    });
    const said = (env: Record<string, string>) => {
      try {
        return JSON.stringify(readConfig(needs, { env, prefix: 'SVC_' }));
      } catch (error) {
        return messageOf(error);
      }
    };
    expect(said({}).split('\n')).toEqual([
      'the configuration has 2 faults',
      '  storage.dsn (SVC_STORAGE_DSN): is required, and must be a string',
      '  storage.tls.ca (SVC_STORAGE_TLS_CA): is required, and must be a string',
    ]);
    // The mapping is required, but none of its keys are.
    expect(said({ SVC_STORAGE_DSN: 'x', SVC_STORAGE_TLS_CA: 'x' })).toContain('log: is required, and must be an object');
  });

  test.each([
    ['a second document', 'a: 1\n---\nb: 2', /one YAML document/],
    ['a list', '- 1', /must be a mapping/],
    [
      'a flow that is not closed',
      'server: {port: ',
      /vitrine\.yaml: line 1, column 16: the indentation is wrong, or a bracket is not closed$/m,
    ],
    ['a quote that is not closed', 'a: "b', /vitrine\.yaml: line 1, column 6: a quote, a bracket or a colon is missing$/m],
    [
      'an alias of nothing',
      'server: *nothing',
      /vitrine\.yaml: an alias has no anchor before it, or makes more than 100 copies$/m,
    ],
    [
      'aliases that explode',
      `a: &a [x]\nb: &b [${'*a, '.repeat(200)}]`,
      /vitrine\.yaml: an alias has no anchor before it, or makes more than 100 copies$/m,
    ],
    ['a duplicate key', 'server: {}\nserver: {}', /vitrine\.yaml: line 2, column 1: the key is given twice$/m],
    ['a tab', 'server:\n\tport: 1', /vitrine\.yaml: line 2, column 1: a tab cannot indent; use spaces$/m],
    ['a text with a colon', 'a: b: c', /vitrine\.yaml: line 1, column 4: a text that contains ": " needs quotes$/m],
    ['a line without a colon', 'one\ntwo: 2', /vitrine\.yaml: line 1, column 1: a colon behind a key is missing$/m],
    ['a text that begins with @', 'a: @b', /vitrine\.yaml: line 1, column 4: a text that begins with @ or ` needs quotes$/m],
    ['an unknown escape', 'a: "\\q"', /vitrine\.yaml: line 1, column 5: unknown escape; in single quotes there are none$/m],
    [
      'a secret at a wrong place',
      '- a\nsgk_1: secret',
      /^(?![^]*(?:secret|sgk_1))[^]*vitrine\.yaml: line 2, column 1: is not valid YAML\n/,
    ],
    ['a prototype', '__proto__: {server: {port: 7}}', /__proto__: unknown key/],
    ['a port with trailing text', 'server: {port: 80x}', /server\.port/],
  ])('refuses %s', (_, text, expected) => {
    expect(refusal(text)).toMatch(expected);
  });

  test('a variable of the wrong type is rejected by name', () => {
    expect(refusal('', { SVC_SERVER_PORT: '80x' })).toMatch(/server\.port \(SVC_SERVER_PORT\)/);
    expect(refusal('', { SVC_TRACING_CAPTURE_BODIES: '1' })).toMatch(/SVC_TRACING_CAPTURE_BODIES/);
  });

  describe('variables with custom names', () => {
    const named = [
      { name: 'PORT', wins: false, expects: 'a port', sets: (text: string) => ({ 'server.port': text }) },
      { name: 'SVC_HOST', wins: true, expects: 'a host', sets: (text: string) => ({ 'server.host': text }) },
      {
        name: 'WHERE',
        wins: false,
        expects: 'here or there',
        sets: (text: string) => (text === 'here' ? { 'server.host': 'here', 'server.port': '7' } : undefined),
      },
    ];
    const readNamed = (env: Record<string, string>) => readConfig(schema, { env, prefix: 'SVC_', named }).server;

    test('win over YAML and over earlier ones, and over the variable of the path only if declared so', () => {
      expect(readNamed({ PORT: ' 9 ' })).toEqual({ host: '0.0.0.0', port: 9 });
      expect(readNamed({ PORT: '9', SVC_SERVER_PORT: '8', SVC_SERVER_HOST: 'a', SVC_HOST: 'b' })).toEqual({ host: 'b', port: 8 });
      expect(readNamed({ PORT: '9', WHERE: 'here' })).toEqual({ host: 'here', port: 7 });
    });

    test('are named in faults of their keys, also when their text is invalid', () => {
      const said = () => readNamed({ PORT: '0', WHERE: 'nowhere', SVC_HOTS: 'x' });
      expect(said).toThrow(/server\.port \(PORT\): /);
      expect(said).toThrow(/WHERE: must be here or there/);
      expect(said).toThrow(/SVC_HOTS: unknown variable/);
      expect(said).toThrow(/has 3 faults/);
    });
  });
});

describe('rules between parts', () => {
  const rule = ({ server, tracing }: { server?: { port?: number | undefined } | undefined; tracing?: object | undefined }) =>
    server?.port === 7 && tracing !== undefined ? [{ path: 'server.port', message: 'must not be 7' }] : [];
  const ruled = (text: string, env: Record<string, string> = {}) =>
    readConfig(schema, { yaml: { path: 'y', text }, env, prefix: 'SVC_' }, [rule]);

  test('are checked although another part is invalid, and name the variable', () => {
    expect(ruled('server: {port: 8}').server.port).toBe(8);
    expect(() => ruled('server: {port: 7}')).toThrow('has 1 fault\n  server.port (SVC_SERVER_PORT): must not be 7');
    expect(() => ruled('server: {port: 7, host: 3}\nextra: 1')).toThrow(/has 3 faults[\s\S]*must not be 7/);
  });

  test('do not receive invalid parts', () => {
    expect(() => ruled('server: {port: 7, host: 3}\ntracing: 5')).toThrow('has 2 faults');
  });
});

test('variables of other programs are ignored, but typos of them are reported', () => {
  const foreign = ['SVC_TOKEN_OF_OTHERS'];
  const source = (name: string) => ({ env: { [name]: 'x' }, prefix: 'SVC_', foreign });
  expect(readConfig(schema, source('SVC_TOKEN_OF_OTHERS'))).toEqual(readConfig(schema, { env: {}, prefix: 'SVC_' }));
  expect(() => readConfig(schema, source('SVC_TOKEN_OF_OTHER'))).toThrow(
    'SVC_TOKEN_OF_OTHER: unknown variable; did you mean SVC_TOKEN_OF_OTHERS?',
  );
});

const unionSchema = z.strictObject({
  store: z
    .discriminatedUnion('driver', [
      z.strictObject({ driver: z.literal('sqlite'), path: z.string().default('./data/traces.db') }),
      z.strictObject({
        driver: z.literal('postgres'),
        url: z.string(),
        pool: z.strictObject({ max: z.int().min(1).default(10), idle_timeout_ms: z.int().default(30_000) }).prefault({}),
      }),
    ])
    .prefault({ driver: 'sqlite' }),
  port: z.int().default(8080),
});
const readUnion = (env: Record<string, string>, text = '') =>
  readConfig(unionSchema, { yaml: { path: 'vitrine.yaml', text }, env, prefix: 'SVC_' });
const leaves = (of: z.ZodType) => leavesOf(of).map(({ path, type }) => `${path.join('.')} ${type}`);

describe('the variables of a discriminated union', () => {
  test('are those of all variants, with common ones once', () => {
    expect(leaves(unionSchema)).toEqual([
      'store.driver string',
      'store.path string',
      'store.url string',
      'store.pool.max integer',
      'store.pool.idle_timeout_ms integer',
      'port integer',
    ]);
  });

  test('set the variant that the discriminator names', () => {
    expect(readUnion({}).store).toEqual({ driver: 'sqlite', path: './data/traces.db' });
    const env = { SVC_STORE_DRIVER: 'postgres', SVC_STORE_URL: 'postgres://db', SVC_STORE_POOL_MAX: '4' };
    expect(readUnion({ ...env, SVC_STORE_POOL_IDLE_TIMEOUT_MS: '5000' }).store).toEqual({
      driver: 'postgres',
      url: 'postgres://db',
      pool: { max: 4, idle_timeout_ms: 5_000 },
    });
  });

  test('of another variant are unknown keys, and an unknown variant is reported with the existing ones', () => {
    expect(() => readUnion({ SVC_STORE_DRIVER: 'sqlite', SVC_STORE_URL: 'x' })).toThrow(
      '  store.url (SVC_STORE_URL): unknown key; known keys: driver, path',
    );
    expect(() => readUnion({ SVC_STORE_DRIVER: 'mysql' })).toThrow(
      '  store.driver (SVC_STORE_DRIVER): must be "sqlite" or "postgres"; got "mysql"',
    );
  });

  test('keep the valid parts of the variant for rules', () => {
    const env = { SVC_STORE_DRIVER: 'postgres', SVC_STORE_POOL_MAX: '0', SVC_PORT: '1' };
    const { parts, faults } = inspectConfig(unionSchema, { env, prefix: 'SVC_' });
    expect(faults.map(({ path }) => path)).toEqual(['store.url', 'store.pool.max']);
    expect(parts).toEqual({ store: { driver: 'postgres', url: undefined, pool: { idle_timeout_ms: 30_000 } }, port: 1 });
  });
});

test('a value of several types is read as text, and one that may be null as its type', () => {
  expect(leaves(z.strictObject({ size: z.union([z.int(), z.literal('auto')]), limit: z.int().nullable() }))).toEqual([
    'size string',
    'limit integer',
  ]);
});

const partsSchema = z
  .strictObject({
    port: z.int().min(1).default(80),
    name: z.string().optional(),
    part: z.strictObject({ path: z.string().startsWith('/'), size: z.int() }).prefault({ path: '/', size: 1 }),
    keys: z.array(z.strictObject({ id: z.string(), token: z.string().transform((text) => new Secret(text)) })).default([]),
    plans: z.record(z.string(), z.strictObject({ rate: z.int().default(0) })).default({}),
  })
  .refine(() => false, 'is refused as a whole');

test('valid parts keep their position', () => {
  expect(
    partialValue(partsSchema, {
      port: 'x',
      name: 'n',
      part: { path: 'x', size: 2, more: 1 },
      keys: [{ id: 1, token: 'abc' }, 'nonsense', { id: 'b' }],
      plans: { gold: { rate: 'x' }, silver: {}, bad: 3 },
      extra: 1,
    }),
  ).toEqual({
    port: undefined,
    name: 'n',
    part: { path: undefined, size: 2 },
    keys: [{ id: undefined, token: expect.any(Secret) }, undefined, { id: 'b', token: undefined }],
    plans: { gold: { rate: undefined }, silver: { rate: 0 }, bad: undefined },
  });
});

test('defaults apply to missing parts', () => {
  expect(partialValue(partsSchema, {})).toEqual({ port: 80, part: { path: '/', size: 1 }, keys: [], plans: {} });
  expect(partialValue(partsSchema, 'nonsense')).toBeUndefined();
});

test('a valid input is returned completely', () => {
  const accepting = z.strictObject(partsSchema.shape);
  const input = fc.record(
    {
      port: fc.integer({ min: 1 }),
      name: fc.string(),
      keys: fc.array(fc.record({ id: fc.string(), token: fc.string() })),
      plans: fc.dictionary(fc.string(), fc.record({ rate: fc.integer() }, { requiredKeys: [] })),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(input, (value) => {
      expect(JSON.stringify(partialValue(accepting, value))).toBe(JSON.stringify(accepting.parse(value)));
    }),
  );
});

const textOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value, { error: issueText }).error?.issues[0]?.message;

test.each([
  [z.string(), undefined, 'is required, and must be a string'],
  [z.string(), null, 'must be a string, not null'],
  [z.int(), 1.5, 'must be a whole number, not a fraction'],
  [z.int(), Number.NaN, 'must be a number, not NaN'],
  [z.number(), Number.POSITIVE_INFINITY, 'must be a number, not Infinity'],
  [z.boolean(), 'yes', 'must be true or false, not a string'],
  [z.string(), true, 'must be a string, not true'],
  [z.array(z.string()), {}, 'must be a list, not an object'],
  [z.strictObject({}), 3, 'must be an object, not a number'],
  [z.record(z.string(), z.string()), [], 'must be an object, not a list'],
  [z.bigint(), 3, 'must be of type bigint, not a number'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(3), 'ab', 'must have at least 3 characters'],
  [z.string().max(3), 'abcd', 'must have at most 3 characters'],
  [z.array(z.int()).min(2), [1], 'must have at least 2 items'],
  [z.array(z.int()).max(1), [1, 2], 'must have at most 1 items'],
  [z.int().min(1), 0, 'must be at least 1'],
  [z.number().gt(1), 1, 'must be greater than 1'],
  [z.int().max(5), 6, 'must be at most 5'],
  [z.number().lt(5), 5, 'must be less than 5'],
  [z.int(), 1e300, 'must be at most 9007199254740991'],
  [z.number().multipleOf(5), 7, 'must be a multiple of 5'],
  [z.enum(['a', 'b', 'c']), 'd', 'must be "a", "b" or "c"'],
  [z.literal('a'), 'd', 'must be "a"'],
  [z.literal(7), 'd', 'must be 7'],
  [z.string().regex(/^a+$/), 'b', 'must match /^a+$/'],
  [z.string().startsWith('/'), 'b', 'must start with "/"'],
  [z.string().endsWith('/'), 'b', 'must end with "/"'],
  [z.string().includes('@'), 'b', 'must contain "@"'],
  [z.iso.datetime(), 'b', 'must be an RFC 3339 timestamp'],
  [z.iso.date(), 'b', 'must be a date, YYYY-MM-DD'],
  [z.url(), 'b', 'must be a URL'],
  [z.email(), 'b', 'must have the format email'],
  [z.strictObject({ a: z.string().optional() }), { b: 1, c: 2 }, 'unknown key; known keys: a'],
  [z.strictObject({}), { b: 1 }, 'unknown key'],
  [z.record(z.string().regex(/^a/, 'must begin with a'), z.int()), { b: 1 }, 'the name must begin with a'],
  [z.union([z.int(), z.boolean()]), 'b', 'has a form that is not allowed'],
  [z.custom(() => false), 'b', 'has a form that is not allowed'],
  // Texts of the schema are kept.
  [z.string().min(3, 'is too short for a name'), 'ab', 'is too short for a name'],
  [z.string().refine(() => false, 'is not to our taste'), 'ab', 'is not to our taste'],
])('%# %j: %s', (schema, value, text) => {
  expect(textOf(schema, value)).toBe(text);
});

test('a secret prints as ***, however it is printed, and is returned by reveal', () => {
  const secret = new Secret('hunter2');
  const printed = [String(secret), secret.toString(), JSON.stringify({ secret }), inspect({ secret }), inspect([secret])];
  expect(printed.join(' ')).not.toContain('hunter2');
  expect(printed[0]).toBe('***');
  expect(secret.reveal()).toBe('hunter2');
});

test.each([
  ['250ms', 250],
  ['3s', 3_000],
  [' 3s ', 3_000],
  ['1.5s', 1_500],
  ['4.35s', 4_350],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['0.25h', 900_000],
  ['0s', 0],
])('%j is %d ms', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each([
  '',
  '3',
  's',
  '3 s',
  '3S',
  '-3s',
  '+3s',
  '1e3s',
  '0.5ms',
  '1.0001s',
  '3d',
  '1h30m',
  '3s3s',
  '.5s',
  '9'.repeat(14) + 'h',
  'NaNs',
])('%j is not a duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});
