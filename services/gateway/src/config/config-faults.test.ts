import { describe, expect, test } from '@jest/globals';
import { isFault, messageOf } from '@vitrine/faults/fault';
import { z } from 'zod';
import { gatewayConfig, readGatewayConfig } from '../config.ts';
import { OLD_CONFIG } from '../testing/old-config-file.ts';
import { OLD_KEYS, OLD_VARIABLES, oldVariablesIn } from './old-settings.ts';

/** The faults of a configuration, given as the tree of its YAML file. */
function refusal(tree: unknown, env: Readonly<Record<string, string>> = {}): string {
  try {
    readGatewayConfig({ path: 'vitrine.yaml', text: JSON.stringify(tree) }, env);
  } catch (error) {
    if (isFault(error)) return error.say;
    throw error;
  }
  return 'accepted';
}

type Place = readonly string[];

/** Every path that can have a value: leaves, mappings and lists. `0` and `gold` stand for a list item and a user-chosen name. */
function placesIn(schema: unknown, path: Place = []): Place[] {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault || schema instanceof z.ZodOptional)
    return placesIn(schema.def.innerType, path);
  if (schema instanceof z.ZodObject)
    return [path, ...Object.entries(schema.shape).flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
  if (schema instanceof z.ZodArray) return [path, ...placesIn(schema.element, [...path, '0'])];
  if (schema instanceof z.ZodPipe) return placesIn(schema.def.in, path);
  if (schema instanceof z.ZodRecord) return [path, ...placesIn(schema.valueType, [...path, 'gold'])];
  return [path];
}

function treeWith(path: Place, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => (key === '0' ? [inner] : { [key]: inner }), value);
}

/** A list or a mapping has faults of every kind at once, because each item is reported. */
const WRONG: readonly unknown[] = [
  '',
  'x',
  '\n\u0000"{}'.repeat(600),
  -1,
  0.5,
  1e12,
  1e30,
  true,
  null,
  [],
  [1, {}, '', '\n', 'a b', 'x'.repeat(300)],
  { unheard: 1, '': 1, 'bad name!': {} },
];

/** More items than any list may have. */
const TOO_LONG = Array.from({ length: 1_100 }, () => ({}));

/** The default zod messages for a tree, where a schema defines none. */
function defaultTexts(tree: unknown): string[] {
  const texts = new Set<string>();
  const error = (issue: z.core.$ZodRawIssue) => {
    const text = z.locales.en().localeError(issue);
    texts.add(typeof text === 'string' ? text : (text?.message ?? ''));
    return 'UNWORDED';
  };
  gatewayConfig.safeParse(tree, { error });
  return [...texts];
}

describe('an invalid value of every key of the configuration', () => {
  const places = placesIn(gatewayConfig).filter((path) => path.length > 0);

  test('there are at least as many keys as in docs/gateway.md', () => {
    expect(places.length).toBeGreaterThan(80);
    expect(places).toContainEqual(['auth', 'keys', '0', 'permissions', '0']);
    expect(places).toContainEqual(['plans', 'gold', 'per_key', 'max_cost_usd_per_day']);
  });

  // Parts of the configuration do not hide each other's faults, so one reading checks a key of every part.
  const byPart = Object.values(Object.groupBy(places, ([part = '']) => part)) as Place[][];
  const rounds = Array.from({ length: Math.max(...byPart.map(({ length }) => length)) }, (_, round) =>
    byPart.flatMap((ofPart) => ofPart.slice(round, round + 1)),
  );

  const isList = (path: Place) => places.some((item) => item.join('.') === [...path, '0'].join('.'));

  test.each(rounds.map((paths) => [paths.map((path) => path.join('.')).join(', '), paths] as const))(
    '%s: is said in our own words',
    (_, paths) => {
      const refused = new Set<string>();
      for (const value of paths.some(isList) ? [...WRONG, TOO_LONG] : WRONG) {
        const tree = Object.assign({}, ...paths.map((path) => treeWith(path, value))) as object;
        const said = refusal(tree);
        if (said === 'accepted') continue;
        expect(said).toMatch(/^the configuration has \d+ faults?\n/);
        expect(defaultTexts(tree).filter((text) => said.includes(text))).toEqual([]);
        expect(said).not.toMatch(/Invalid |Too (?:small|big)|Unrecognized|expected .* received|undefined|NaN|\[object/);
        // Each line names the path with a wrong value, or one beside or below it.
        const parts = said
          .split('\n')
          .slice(1)
          .map((line) => /^ {2}(\w+)/.exec(line)?.[1] ?? line);
        expect(parts.filter((part) => !paths.some(([top]) => top === part))).toEqual([]);
        for (const part of parts) refused.add(part);
      }
      expect(refused).toEqual(new Set(paths.map(([top]) => top)));
    },
  );
});

describe('faults name the key, its variable, the rule and the value', () => {
  test.each([
    ['a type', { server: { port: '80x' } }, 'server.port (SVC_SERVER_PORT): must be a number, not a string; got "80x"'],
    ['a bound', { server: { port: 70_000 } }, 'server.port (SVC_SERVER_PORT): must be at most 65535; got 70000'],
    ['a fraction', { server: { port: 1.5 } }, 'server.port (SVC_SERVER_PORT): must be a whole number, not a fraction; got 1.5'],
    ['a word', { auth: { store: 'db' } }, 'auth.store (SVC_AUTH_STORE): must be "database" or "file"; got "db"'],
    [
      'a switch',
      { auth: { enabled: 'maybe' } },
      'auth.enabled (SVC_AUTH_ENABLED): must be true or false, not a string; got "maybe"',
    ],
    ['nothing', { server: { host: '' } }, 'server.host (SVC_SERVER_HOST): must not be empty; got ""'],
    [
      'a rule of ours',
      { auth: { header: 'Cookie' } },
      'auth.header (SVC_AUTH_HEADER): must not be a header that carries another secret; got "Cookie"',
    ],
    ['a list for a mapping', { auth: [] }, 'auth: must be an object, not a list'],
    ['what is missing', { auth: { keys: [{ id: 'k' }] } }, 'auth.keys.0.token: is required, and must be a string'],
    [
      'an unknown key',
      { server: { prot: 1 } },
      'server.prot: unknown key; known keys: host, port, max_connections, idle_grace_ms',
    ],
    ['a bad name', { plans: { 'bad name!': {} } }, 'plans.bad name!: the name must be up to 64 letters, digits, dots, dashes'],
  ])('%s', (_, tree, line) => {
    expect(refusal(tree)).toContain(`has 1 fault\n  ${line}`);
  });

  test('a mistyped variable is reported with the nearest name', () => {
    expect(refusal({}, { SVC_SERVER_PROT: '1' })).toBe(
      'the configuration has 1 fault\n  SVC_SERVER_PROT: unknown variable; did you mean SVC_SERVER_PORT?',
    );
    expect(refusal({}, { SVC_NOTHING_LIKE_IT: '1' })).toMatch(/SVC_NOTHING_LIKE_IT: unknown variable$/);
  });

  test('values that may be secret are not repeated', () => {
    const secret = 'hunter2 hunter2';
    const said = refusal(
      {
        auth: { keys: [{ id: 'k', token: secret }], peppers: [secret] },
        pii: { replacement: { hash_salt: secret.repeat(100) } },
        observability: { otel: { endpoint: `http://user:${secret.replace(' ', '-')}@collector` } },
      },
      { SVC_PROVIDERS_OPENAI_UPSTREAM: 'https://api.example/v1?key=hunter2', SVC_AUTH_HEADER: '' },
    );
    expect(said).toContain('has 5 faults');
    expect(said).not.toContain('hunter2');
    expect(said).toContain('got "http://***@collector"');
    expect(said).toContain('got "https://api.example/v1"');
  });
});

describe('faults that involve two parts', () => {
  const key = (fields: object) => ({ token: `token-0123456789-${JSON.stringify(fields).length}-abcdefgh`, ...fields });

  test('are reported with those of one part, all at once', () => {
    const said = refusal({
      server: { port: 9464, max_connections: 'many' },
      providers: { openai: { prefix: '/llm', upstream: 'ftp://x' }, anthropic: { prefix: '/llm/claude' } },
      observability: { otel: { prometheus_port: 9464, prometheus_path: '/llm/metrics', sampling_ratio: 7 } },
      auth: {
        header: 'Cookie',
        keys: [key({ id: 'a', plan: 'gold' }), { ...key({ id: 'a' }), role: 7 }, { id: 'b' }],
        peppers: [`1:${'p'.repeat(32)}`, 'nonsense', `1:${'q'.repeat(32)}`],
      },
      plans: { silver: { per_key: { requests_per_minute: -1 } } },
      extra: true,
    });
    const paths = said.split('\n').flatMap((line) => /^ {2}([^ :]+)/.exec(line)?.[1] ?? []);
    expect(paths.toSorted()).toEqual(
      [
        'auth.header',
        'auth.keys.0.plan',
        'auth.keys.1.id',
        'auth.keys.1.role',
        'auth.keys.2.token',
        'auth.peppers.1',
        'auth.peppers.2',
        'extra',
        'observability.otel.prometheus_path',
        'observability.otel.prometheus_port',
        'observability.otel.sampling_ratio',
        'plans.silver.per_key.requests_per_minute',
        'providers.anthropic.prefix',
        'providers.openai.upstream',
        'server.max_connections',
      ].toSorted(),
    );
    expect(said).toContain('auth.keys.0.plan: unknown plan "gold"; configured plans: silver');
  });

  test('an invalid part is not reported twice', () => {
    // This port is not the default one, and this key has no plan.
    const said = refusal({
      server: { port: 'x' },
      observability: { otel: { prometheus_port: 8080 } },
      auth: { keys: [key({ id: 'a', plan: 5 })] },
    });
    expect(said).toContain('has 2 faults');
    expect(said).not.toContain('prometheus_port');
  });

  test('a file store without keys is rejected, regardless of other faults', () => {
    const said = refusal({ auth: { enabled: true, store: 'file', header: 'Cookie' } });
    expect(said).toContain('auth.keys (SVC_AUTH_KEYS): must contain a key');
    expect(said).toContain('has 2 faults');
  });
});

const text = JSON.stringify(OLD_CONFIG);

function faultsOf(text: string): string[] {
  try {
    readGatewayConfig({ path: 'ongoingai.yaml', text }, {});
    return [];
  } catch (error) {
    return messageOf(error).split('\n').slice(1);
  }
}

describe("the old gateway's YAML", () => {
  test('an unknown key of its own is rejected with its successor', () => {
    expect(faultsOf(text).toSorted()).toEqual([
      '  auth.keys.0.created_by: unknown key: it was a key of ongoingai/gateway; remove it: keys of the file are created by system',
      '  auth.keys.0.team: unknown key: it was a key of ongoingai/gateway; use auth.keys[].workspace_id',
      '  pii.stages: unknown key: it was a key of ongoingai/gateway; remove it: headers and bodies of both directions are always redacted',
      '  storage.dsn (SVC_STORAGE_DSN): has no effect, because storage.driver is sqlite: set that to postgres',
    ]);
    expect(Object.keys(OLD_KEYS)).toHaveLength(3);
  });

  test('every other key is read unchanged, including an empty mode and salt', () => {
    const { storage, pii, auth, ...others } = structuredClone(OLD_CONFIG);
    const { dsn: _dsn, ...path } = storage;
    const { stages: _stages, ...rules } = pii;
    const keys = auth.keys.map(({ team: _team, created_by: _by, ...key }) => key);
    const text = JSON.stringify({ ...others, storage: path, pii: rules, auth: { ...auth, keys } });
    expect(faultsOf(text)).toEqual([]);
    const config = readGatewayConfig({ path: 'ongoingai.yaml', text }, {});
    expect(config.pii.mode).toBeUndefined();
    expect(config.pii.replacement.hash_salt).toBeUndefined();
    expect(config.auth.header).toBe('X-OngoingAI-Gateway-Key');
    expect(config.auth.keys[0]?.token.reveal()).toBe('ogk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
  });

  test('a key of neither gateway is unknown', () => {
    expect(faultsOf('storage: { pat: x }')).toEqual(['  storage.pat: unknown key; known keys: driver, path, dsn']);
  });
});

describe("the old gateway's variables", () => {
  test('are listed with their successors when they are set, without values', () => {
    const found = oldVariablesIn({
      ONGOINGAI_PORT: '9',
      ONGOINGAI_STORAGE_DSN: 'postgres://u:secret@h',
      ONGOINGAI_NEW: 'x',
      HOME: '/',
    });
    expect(found).toEqual({
      ONGOINGAI_NEW: 'none',
      ONGOINGAI_PORT: 'SVC_SERVER_PORT',
      ONGOINGAI_STORAGE_DSN: 'SVC_STORAGE_DSN, for a new database',
    });
  });

  const VALUES: Readonly<Record<string, string>> = {
    SVC_SERVER_PORT: '9090',
    SVC_STORAGE_DRIVER: 'sqlite',
    SVC_STORAGE_DSN: 'postgres://u:p@localhost/vitrine',
    SVC_PROVIDERS_OPENAI_UPSTREAM: 'http://a',
    SVC_PROVIDERS_ANTHROPIC_UPSTREAM: 'http://b',
    SVC_TRACING_CAPTURE_BODIES: 'true',
    SVC_TRACING_BODY_MAX_SIZE: '1024',
    SVC_PROMETHEUS_ENABLED: 'true',
    SVC_PROMETHEUS_PATH: '/scrape',
    SVC_PII_MODE: 'block',
    SVC_AUTH_ENABLED: 'true',
    SVC_AUTH_HEADER: 'X-Internal-Key',
  };
  const successors = Object.values(OLD_VARIABLES).flatMap((text) => /^SVC_\w+/.exec(text)?.[0] ?? []);

  test.each(successors)('%s is a variable of this gateway', (name) => {
    const storage = name === 'SVC_STORAGE_DSN' ? { SVC_STORAGE_DRIVER: 'postgres' } : {};
    expect(() => readGatewayConfig(undefined, { ...storage, [name]: VALUES[name] ?? 'text' })).not.toThrow();
  });
});
