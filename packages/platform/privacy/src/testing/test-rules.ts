import type { PrivacyRules } from '../privacy-rules.ts';

/** Redaction with every detector, and denied names of each kind. */
export const TEST_RULES: PrivacyRules = {
  mode: 'redact_storage',
  policyId: 'p',
  detectors: { email: true, phone: true, ssn: true, token_like: true },
  deniedHeaders: ['authorization', 'x-user', 'x-team.name'],
  deniedFields: ['email', 'phone', 'password', 'token', 'secret', 'ssn', 'api_key', 'authorization'],
  format: '[{type}]',
  salt: 'salt',
  scopes: [],
};
