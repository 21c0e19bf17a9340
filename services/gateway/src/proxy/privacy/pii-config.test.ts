import { describe, expect, test } from '@jest/globals';
import { messageOf } from '@vitrine/faults/fault';
import { readGatewayConfig } from '../../config.ts';
import { privacyRules } from './pii-config.ts';

const read = (pii: string, env: Record<string, string> = {}) =>
  readGatewayConfig({ path: 'vitrine.yaml', text: `pii: ${pii}` }, env).pii;

function refusal(pii: string, env: Record<string, string> = {}): string {
  try {
    read(pii, env);
  } catch (error) {
    return messageOf(error);
  }
  throw new Error('was accepted');
}

test('every type is detected by default, and type names are those of ongoingai/gateway', () => {
  const rules = privacyRules(read('{}'), true);
  expect(rules).toMatchObject({
    mode: 'redact_storage',
    policyId: 'default/v1',
    detectors: { email: true, phone: true, ssn: true, token_like: true },
    deniedFields: ['email', 'phone', 'password', 'token', 'secret', 'ssn', 'api_key', 'authorization'],
    format: '[{type}_REDACTED:{hash}]',
    scopes: [],
  });
  expect(privacyRules(read('{}'), false).mode).toBe('off');
  expect(privacyRules(read('{mode: block}'), false).mode).toBe('block');
});

test('the salt is a secret, and is generated when none is set', () => {
  const pii = read('{}', { SVC_PII_REPLACEMENT_HASH_SALT: 'canary-salt' });
  expect(JSON.stringify(pii)).not.toContain('canary-salt');
  expect(privacyRules(pii, true).salt).toBe('canary-salt');
  const salts = [privacyRules(read('{}'), true).salt, privacyRules(read('{}'), true).salt];
  expect(new Set(salts).size).toBe(2);
  expect(salts.every((salt) => /^[0-9a-f]{64}$/.test(salt))).toBe(true);
});

test('lists and switches can be set by variables', () => {
  const pii = read('{}', {
    SVC_PII_BODY_KEY_DENYLIST: 'iban, Tax-ID',
    SVC_PII_DETECTORS_PHONE: 'false',
    SVC_PII_HEADERS_DENYLIST: 'X-User',
  });
  expect(privacyRules(pii, true)).toMatchObject({
    deniedFields: ['iban', 'Tax-ID'],
    deniedHeaders: ['x-user'],
    detectors: { phone: false },
  });
});

describe('refuses', () => {
  test.each([
    ['an unknown mode', '{mode: redact_everything}', 'pii.mode (SVC_PII_MODE)'],
    ['an unknown detector', '{detectors: {address: true}}', 'pii.detectors.address: unknown key'],
    ['stages, which are always on', '{stages: {request_body: false}}', 'pii.stages: unknown key'],
    ['a scope that matches everything', '{scopes: [{match: {}, mode: off}]}', 'pii.scopes.0.match: must name'],
    ['a scope that says nothing', '{scopes: [{match: {org_id: a}}]}', 'pii.scopes.0: must set mode or policy_id'],
    ['an unknown provider', '{scopes: [{match: {provider: OpenAI}, mode: off}]}', 'pii.scopes.0.match.provider'],
    ['a route that does not start with a slash', '{scopes: [{match: {route_prefix: v1}, mode: off}]}', 'must start with /'],
    ['a placeholder with a quote', `{replacement: {format: 'a"b'}}`, 'pii.replacement.format'],
    ['a placeholder that would be found again', `{replacement: {format: 'x@y.com'}}`, 'pii.replacement.format'],
    ['a placeholder with an unknown name', `{replacement: {format: '[{kind}]'}}`, 'pii.replacement.format'],
    ['a name with a quote', `{body: {key_denylist: ['a"']}}`, 'pii.body.key_denylist.0'],
    ['an empty name', `{body: {key_denylist: ['']}}`, 'pii.body.key_denylist.0'],
    ['a header that is none', '{headers: {denylist: [a b]}}', 'pii.headers.denylist.0'],
  ])('%s', (_, pii, said) => {
    expect(refusal(pii)).toContain(said);
  });

  test('and an invalid salt is not printed', () => {
    expect(refusal(`{mode: x, replacement: {hash_salt: '${'canary'.repeat(300)}'}}`)).not.toContain('canary');
  });
});
