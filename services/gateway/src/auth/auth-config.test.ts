import { describe, expect, test } from '@jest/globals';
import { messageOf } from '@vitrine/faults/fault';
import { inspect } from 'node:util';
import { readGatewayConfig } from '../config.ts';

const read = (text: string, env: Record<string, string> = {}) => readGatewayConfig({ path: 'vitrine.yaml', text }, env).auth;
const configError = (text: string, env: Record<string, string> = {}): string => {
  try {
    read(text, env);
  } catch (error) {
    return messageOf(error);
  }
  throw new Error('was accepted');
};
const TOKEN = 'token-0123456789-0123456789';
const PEPPER = 'pepper-0123456789-0123456789-0123456789';

describe('auth', () => {
  test('is off, and reads X-Svc-Gateway-Key from the database', () => {
    expect(read('')).toEqual({ enabled: false, header: 'X-Svc-Gateway-Key', store: 'database', keys: [], peppers: [] });
  });

  test('a key needs an id and a token; the rest has defaults', () => {
    const [key] = read(`auth: {keys: [{id: k, token: ${TOKEN}, permissions: [KEYS:manage, keys:manage]}]}`).keys;
    expect(key).toMatchObject({ org_id: 'default', workspace_id: 'default', role: 'developer', permissions: ['keys:manage'] });
    expect(key?.token.reveal()).toBe(TOKEN);
  });

  test('peppers come from a variable too, and the first is for new hashes', () => {
    const { peppers } = read('', { SVC_AUTH_PEPPERS: `2:${PEPPER}, 1:${PEPPER}x` });
    expect(peppers.map(({ version, secret }) => [version, secret.reveal()])).toEqual([
      [2, PEPPER],
      [1, `${PEPPER}x`],
    ]);
  });

  test('a printed configuration contains no tokens and peppers', () => {
    const config = read(`auth: {keys: [{id: k, token: ${TOKEN}}]}`, { SVC_AUTH_PEPPERS: `1:${PEPPER}` });
    const printed = JSON.stringify(config) + inspect(config, { depth: 9 });
    expect(printed).not.toContain('0123456789');
    expect(JSON.parse(JSON.stringify(config))).toMatchObject({ keys: [{ token: '***' }], peppers: [{ secret: '***' }] });
  });
});

describe('auth.header', () => {
  test.each(['X-Team-Key', 'x-svc-gateway-key', 'Gateway.Key'])('%s may carry keys', (header) => {
    expect(read(`auth: {header: ${header}}`).header).toBe(header);
  });

  test.each([
    'Authorization',
    'x-api-key',
    'Cookie',
    'Host',
    'Connection',
    'Transfer-Encoding',
    'Content-Length',
    'User-Agent',
    'Proxy-Thing',
    'X-Request-ID',
    'X-Svc-Correlation-ID',
    'X-Svc-Thread-ID',
    'X-Forwarded-For',
    '"a b"',
    '"a:b"',
    '"\\u00e4"',
    '""',
  ])('%s may not', (header) => {
    expect(configError(`auth: {header: ${header}}`)).toContain('auth.header (SVC_AUTH_HEADER): must');
  });
});

describe('invalid keys', () => {
  test.each([
    ['an id twice', `{id: k, token: ${TOKEN}}, {id: k, token: ${TOKEN}x}`, 'auth.keys.1.id: is the id of another key'],
    ['a token twice', `{id: a, token: ${TOKEN}}, {id: b, token: ${TOKEN}}`, 'auth.keys.1.token: is the token of another key'],
    ['a short token', '{id: k, token: short}', 'auth.keys.0.token: must be 24 to 256'],
    ['no token', '{id: k}', 'auth.keys.0.token: '],
    ['an empty id', `{id: '', token: ${TOKEN}}`, 'auth.keys.0.id: must not be empty'],
    ['an unknown permission', `{id: k, token: ${TOKEN}, permissions: [all]}`, 'auth.keys.0.permissions.0: unknown permission'],
    ['a token as a name', `{id: k, token: ${TOKEN}, name: sgk_0123456789}`, 'auth.keys.0.name: must not contain a credential'],
    ['an unknown field', `{id: k, token: ${TOKEN}, secret: x}`, 'auth.keys.0.secret: unknown key'],
  ])('%s is reported with its path, and without the token', (_, keys, expected) => {
    const said = configError(`auth: {keys: [${keys}]}`);
    expect(said).toContain(expected);
    expect(said).not.toContain(TOKEN);
  });

  test('having neither a key nor a store to create one in is an error with the next step', () => {
    expect(configError('auth: {enabled: true, store: file}')).toMatch(/auth\.keys.*must contain a key.*auth\.store/);
    expect(read('auth: {enabled: true}').enabled).toBe(true);
  });

  test.each([`1:${PEPPER}, 1:${PEPPER}x`, 'secret', `x:${PEPPER}`])('peppers %j', (peppers) => {
    const said = configError('', { SVC_AUTH_PEPPERS: peppers });
    expect(said).toContain('auth.peppers');
    expect(said).not.toContain(PEPPER);
  });
});
