import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { leavesOf } from './leaves.ts';
import { inspectConfig, readConfig } from './read-config.ts';

const schema = z.strictObject({
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
const read = (env: Record<string, string>, text = '') =>
  readConfig(schema, { yaml: { path: 'vitrine.yaml', text }, env, prefix: 'SVC_' });
const leaves = (of: z.ZodType) => leavesOf(of).map(({ path, type }) => `${path.join('.')} ${type}`);

describe('the variables of a discriminated union', () => {
  test('are those of all variants, with common ones once', () => {
    expect(leaves(schema)).toEqual([
      'store.driver string',
      'store.path string',
      'store.url string',
      'store.pool.max integer',
      'store.pool.idle_timeout_ms integer',
      'port integer',
    ]);
  });

  test('set the variant that the discriminator names', () => {
    expect(read({}).store).toEqual({ driver: 'sqlite', path: './data/traces.db' });
    const env = { SVC_STORE_DRIVER: 'postgres', SVC_STORE_URL: 'postgres://db', SVC_STORE_POOL_MAX: '4' };
    expect(read({ ...env, SVC_STORE_POOL_IDLE_TIMEOUT_MS: '5000' }).store).toEqual({
      driver: 'postgres',
      url: 'postgres://db',
      pool: { max: 4, idle_timeout_ms: 5_000 },
    });
  });

  test('of another variant are unknown keys, and an unknown variant is reported with the existing ones', () => {
    expect(() => read({ SVC_STORE_DRIVER: 'sqlite', SVC_STORE_URL: 'x' })).toThrow(
      '  store.url (SVC_STORE_URL): unknown key; known keys: driver, path',
    );
    expect(() => read({ SVC_STORE_DRIVER: 'mysql' })).toThrow(
      '  store.driver (SVC_STORE_DRIVER): must be "sqlite" or "postgres"; got "mysql"',
    );
  });

  test('keep the valid parts of the variant for rules', () => {
    const env = { SVC_STORE_DRIVER: 'postgres', SVC_STORE_POOL_MAX: '0', SVC_PORT: '1' };
    const { parts, faults } = inspectConfig(schema, { env, prefix: 'SVC_' });
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
