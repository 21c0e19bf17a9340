import { expect, test } from '@jest/globals';
import { correlationIdReader } from './correlation-id.ts';

const correlationIdOf = correlationIdReader('X-Own-Correlation-ID');

test.each([
  ['x-own-correlation-id', 'job-7:step.2'],
  ['x-request-id', '0192f0c4-7d1e-7000-8000-000000000000'],
  ['x-correlation-id', 'a'.repeat(128)],
])('%s: %s is kept', (name, id) => {
  expect(correlationIdOf({ [name]: id })).toBe(id);
});

test.each(['', 'a b', 'a'.repeat(129), 'sk-proj-canary0123456789', 'sgk_canary0123456789'])(
  'for %j there is a new one: it would not arrive everywhere as it was sent',
  (id) => {
    expect(correlationIdOf({ 'x-request-id': id })).toMatch(/^corr-[0-9a-f]{32}$/);
  },
);
