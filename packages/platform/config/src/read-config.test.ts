import { describe, expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { z } from 'zod';
import { readConfig } from './read-config.ts';

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
  test('defaults apply to missing keys, and the result is frozen', () => {
    const config = read('');
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
    ['broken YAML', 'server: {port: ', /vitrine\.yaml: /],
    ['an alias of nothing', 'server: *nothing', /vitrine\.yaml: Unresolved alias/],
    ['aliases that explode', `a: &a [x]\nb: &b [${'*a, '.repeat(200)}]`, /vitrine\.yaml: Excessive alias/],
    ['a duplicate key', 'server: {}\nserver: {}', /vitrine\.yaml: /],
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
