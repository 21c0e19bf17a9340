import { describe, expect, test } from '@jest/globals';
import { messageOf } from '@vitrine/faults/fault';
import { readGatewayConfig } from '../config.ts';
import { OLD_CONFIG } from '../testing/old-config-file.ts';
import { OLD_KEYS, OLD_VARIABLES, oldVariablesIn } from './old-settings.ts';

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
