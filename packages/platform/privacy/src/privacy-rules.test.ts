import { expect, test } from '@jest/globals';
import { hasMode, policyFor, type PrivacyRules, type PrivacyScope } from './privacy-rules.ts';

const rules = (...scopes: PrivacyScope[]): PrivacyRules => ({
  mode: 'redact_storage',
  policyId: 'general',
  detectors: { email: true, phone: true, ssn: true, token_like: true },
  deniedHeaders: [],
  deniedFields: [],
  format: '',
  salt: '',
  scopes,
});
const subject = (path = '/openai/v1/chat/completions?a=1') => ({
  org_id: 'o',
  workspace_id: 'w',
  gateway_key_id: 'k',
  provider: 'openai' as const,
  path,
});

test.each<[string, PrivacyScope['match'], boolean]>([
  ['its org', { org_id: 'o' }, true],
  ['another org', { org_id: 'x' }, false],
  ['its workspace', { workspace_id: 'w' }, true],
  ['its key', { key_id: 'k' }, true],
  ['another key of its org', { org_id: 'o', key_id: 'x' }, false],
  ['its provider', { provider: 'openai' }, true],
  ['another provider', { provider: 'anthropic' }, false],
  ['the beginning of its route', { route_prefix: '/openai/v1' }, true],
  ['the same with a slash', { route_prefix: '/openai/v1/' }, true],
  ['its whole route', { route_prefix: '/openai/v1/chat/completions' }, true],
  ['half a segment of its route', { route_prefix: '/openai/v1/ch' }, false],
  ['a part of its query', { route_prefix: '/openai/v1/chat/completions?a' }, false],
])('a scope that names %s', (_, match, isMatch) => {
  expect(policyFor(rules({ match, mode: 'block' }), subject()).mode).toBe(isMatch ? 'block' : 'redact_storage');
});

test.each([
  ['/openai/v1/%63hat/completions', true],
  ['/openai/v1/ch%61t%zz', false],
  ['/openai/%761/chat/%zz', true],
  ['/openai/v1/chat%2Fcompletions', false],
])('%s is below /openai/v1/chat for a provider: %s', (path, isMatch) => {
  const policy = policyFor(rules({ match: { route_prefix: '/openai/v1/chat' }, mode: 'block' }), subject(path));
  expect(policy.mode).toBe(isMatch ? 'block' : 'redact_storage');
});

test('without a match the general policy applies', () => {
  expect(policyFor(rules(), subject())).toMatchObject({ mode: 'redact_storage', policyId: 'general' });
  expect(policyFor(rules({ match: { org_id: 'x' }, mode: 'off' }), subject())).toEqual({
    mode: 'redact_storage',
    policyId: 'general',
  });
});

test('the most specific scope wins, then the first; missing fields come from the general policy', () => {
  const scopes: PrivacyScope[] = [
    { match: { org_id: 'o' }, mode: 'off' },
    { match: { org_id: 'o', workspace_id: 'w' }, policy_id: 'special' },
    { match: { provider: 'openai', key_id: 'k' }, mode: 'block' },
  ];
  expect(policyFor(rules(...scopes), subject())).toEqual({ mode: 'redact_storage', policyId: 'special' });
  expect(policyFor(rules(...scopes.toReversed()), subject())).toEqual({ mode: 'block', policyId: 'general' });
});

test('a mode counts wherever it may apply', () => {
  expect(hasMode(rules(), ['block', 'off'])).toBe(false);
  expect(hasMode(rules(), ['redact_storage'])).toBe(true);
  expect(hasMode(rules({ match: { org_id: 'x' }, mode: 'block' }), ['block'])).toBe(true);
});
