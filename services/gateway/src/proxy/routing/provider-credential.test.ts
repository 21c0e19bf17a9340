import { describe, expect, test } from '@jest/globals';
import { providerCredential } from './provider-credential.ts';

describe('the credential of the provider', () => {
  test.each([
    ['a bearer token', { authorization: 'Bearer sk-1' }, 'sk-1'],
    ['a bearer token, whatever is between', { authorization: 'bearer \t sk-1 ' }, 'sk-1'],
    ["Anthropic's x-api-key", { 'x-api-key': ' sk-ant-1 ' }, 'sk-ant-1'],
    ["Azure's api-key", { 'api-key': ' azure-1 ' }, 'azure-1'],
    ['the bearer token, of several', { authorization: 'Bearer sk-1', 'x-api-key': 'a', 'api-key': 'b' }, 'sk-1'],
    ['the first of the others', { 'x-api-key': 'a', 'api-key': 'b' }, 'a'],
    ['what another scheme leaves', { authorization: 'Basic dTpw', 'api-key': 'b' }, 'b'],
    ['nothing', { 'x-other': 'a' }, ''],
  ])('is %s', (_, headers, expected) => {
    expect(providerCredential(headers)).toBe(expected);
  });
});
