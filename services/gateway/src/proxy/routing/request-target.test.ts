import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readTarget, type ProviderRoute } from './request-target.ts';

const routes: ProviderRoute[] = [
  { provider: 'openai', prefix: '/openai', upstreamPath: '' },
  { provider: 'anthropic', prefix: '/anthropic', upstreamPath: '/base' },
];

describe('readTarget', () => {
  test.each([
    ['/openai/v1/chat/completions', '/v1/chat/completions'],
    ['/openai/v1/models?limit=1&after=%2e%2e/..', '/v1/models?limit=1&after=%2e%2e/..'],
    ['/openai', '/'],
    ['/openai/', '/'],
    ['/openai?x=1', '/?x=1'],
    ['/anthropic/v1/messages', '/base/v1/messages'],
    ['/openai/v1/models/ft:gpt-4o.x%3Aorg%2Fname', '/v1/models/ft:gpt-4o.x%3Aorg%2Fname'],
    ['/openai/v1/.well-known', '/v1/.well-known'],
    ['/openai/v1/..x', '/v1/..x'],
  ])('%s goes to %s', (target, path) => {
    expect(readTarget(target, routes)).toMatchObject({ kind: 'upstream', path });
  });

  test.each(['/openaiX/v1', '/', '/api/traces', '/api/traces/', '/api//traces', '/anthropics', '*', '/OPENAI/v1'])(
    '%s is not under a prefix',
    (target) => {
      expect(readTarget(target, routes).kind).toBe('other');
    },
  );

  test.each([
    '/openai/../api/gateway-keys',
    '/openai/v1/..',
    '/openai/./v1',
    '/openai/%2e%2e/api',
    '/openai/%2E./api',
    '/openai/..%2fapi',
    '/openai/a%2f%2e%2e%2fb',
    '/openai//evil.example/v1',
    '/openai/v1//x',
    '/openai/v1/%2f%2fx',
    '/openai/v1%2f/x',
    '//openai/v1',
    '//api/health',
    '/api//../openai/v1',
    '/openai\\..\\x',
    '/openai/%5c..%5Cx',
    '/openai/v1#fragment',
    'http://evil.example/openai/v1',
    'https://evil.example/',
    'openai/v1',
    '',
  ])('%s is refused', (target) => {
    expect(readTarget(target, routes).kind).toBe('refused');
  });

  test('every accepted target resolves, as a URL, to the checked path on the same origin', () => {
    const segment = fc.constantFrom('.', '..', '/', '\\', '%2e', '%2F', '%5c', 'v1', '?', '#', 'a b', '@', ':', '//', 'openai');
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 8 }), (segments) => {
        const target = readTarget(`/openai/${segments.join('')}`, routes);
        if (target.kind !== 'upstream') return;
        const url = new URL(`https://api.example${target.path}`);
        expect(url.origin).toBe('https://api.example');
        expect(decodeURI(url.pathname)).toBe(
          decodeURI(new URL('https://api.example/').pathname + target.path.slice(1).replace(/\?.*$/s, '').replaceAll(' ', '%20')),
        );
      }),
    );
  });
});
