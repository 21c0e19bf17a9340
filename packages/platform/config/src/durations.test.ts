import { describe, expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { z } from 'zod';
import { parseDuration } from './durations.ts';
import { readConfig } from './read-config.ts';

const schema = z.strictObject({
  proxy: z
    .strictObject({
      connect_timeout_ms: z.int().min(1).max(600_000).default(10_000),
      idle_timeout_ms: z.int().min(1).default(300_000),
    })
    .prefault({}),
  retention_days: z.int().default(30),
});
const named = [
  { name: 'OTEL_TIMEOUT', wins: false, expects: 'milliseconds', sets: (text: string) => ({ 'proxy.idle_timeout_ms': text }) },
];
const read = (text: string, env: Record<string, string> = {}) =>
  readConfig(schema, { yaml: { path: 'vitrine.yaml', text }, env, prefix: 'SVC_', named });

function faultOf(text: string, env: Record<string, string> = {}): string {
  try {
    read(text, env);
  } catch (error) {
    expect(codeOf(error)).toBe('invalid_config');
    return messageOf(error);
  }
  throw new Error('was accepted');
}

test.each([
  ['250ms', 250],
  ['3s', 3_000],
  [' 3s ', 3_000],
  ['1.5s', 1_500],
  ['4.35s', 4_350],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['0.25h', 900_000],
  ['0s', 0],
])('%j is %d ms', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each([
  '',
  '3',
  's',
  '3 s',
  '3S',
  '-3s',
  '+3s',
  '1e3s',
  '0.5ms',
  '1.0001s',
  '3d',
  '1h30m',
  '3s3s',
  '.5s',
  '9'.repeat(14) + 'h',
  'NaNs',
])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

describe('durations beside the keys that end in _ms', () => {
  test('a key without the suffix takes a duration, in YAML and as a variable', () => {
    expect(read('proxy: {connect_timeout: 3s}').proxy).toEqual({ connect_timeout_ms: 3_000, idle_timeout_ms: 300_000 });
    expect(read('', { SVC_PROXY_CONNECT_TIMEOUT: '1.5s', SVC_PROXY_IDLE_TIMEOUT: '1h' }).proxy).toEqual({
      connect_timeout_ms: 1_500,
      idle_timeout_ms: 3_600_000,
    });
  });

  test('the _ms keys take numbers as before, and what is not a duration of milliseconds has no second name', () => {
    expect(read('proxy: {connect_timeout_ms: 7}', { SVC_PROXY_IDLE_TIMEOUT_MS: '8' }).proxy).toEqual({
      connect_timeout_ms: 7,
      idle_timeout_ms: 8,
    });
    expect(faultOf('retention: 3s')).toMatch(/ retention: unknown key/);
  });

  test('the environment is applied after YAML, however either of them spells the key', () => {
    expect(read('proxy: {connect_timeout_ms: 7}', { SVC_PROXY_CONNECT_TIMEOUT: '2s' }).proxy.connect_timeout_ms).toBe(2_000);
    expect(read('proxy: {connect_timeout: 2s}', { SVC_PROXY_CONNECT_TIMEOUT_MS: '7' }).proxy.connect_timeout_ms).toBe(7);
    expect(read('proxy: {idle_timeout: 2s}', { OTEL_TIMEOUT: '9' }).proxy.idle_timeout_ms).toBe(9);
    expect(read('', { OTEL_TIMEOUT: '9', SVC_PROXY_IDLE_TIMEOUT: '2s' }).proxy.idle_timeout_ms).toBe(2_000);
  });

  test('a duration in YAML wins over defaults of the caller', () => {
    const source = {
      defaults: { proxy: { connect_timeout_ms: 5 } },
      yaml: { path: 'y', text: 'proxy: {connect_timeout: 2s}' },
      env: {},
      prefix: 'SVC_',
    };
    expect(readConfig(schema, source).proxy.connect_timeout_ms).toBe(2_000);
  });

  test.each([
    [
      'both in YAML',
      'proxy: {connect_timeout: 3s, connect_timeout_ms: 3000}',
      {},
      'proxy.connect_timeout (SVC_PROXY_CONNECT_TIMEOUT): conflicts with connect_timeout_ms: set only one of them',
    ],
    [
      'both variables',
      '',
      { SVC_PROXY_CONNECT_TIMEOUT: '3s', SVC_PROXY_CONNECT_TIMEOUT_MS: '3000' },
      'proxy.connect_timeout (SVC_PROXY_CONNECT_TIMEOUT): conflicts with SVC_PROXY_CONNECT_TIMEOUT_MS: set only one of them',
    ],
    [
      'a number without its unit in YAML',
      'proxy: {connect_timeout: 3}',
      {},
      'proxy.connect_timeout (SVC_PROXY_CONNECT_TIMEOUT): must be a number with its unit, such as 250ms, 3s, 2m or 1h',
    ],
    [
      'a number without its unit in a variable',
      '',
      { SVC_PROXY_CONNECT_TIMEOUT: '3' },
      'proxy.connect_timeout (SVC_PROXY_CONNECT_TIMEOUT): must be a number with its unit, such as 250ms, 3s, 2m or 1h',
    ],
    [
      'a unit that there is not',
      'proxy: {connect_timeout: 3d}',
      {},
      'proxy.connect_timeout (SVC_PROXY_CONNECT_TIMEOUT): must be a number with its unit',
    ],
    [
      'a duration out of range',
      'proxy: {connect_timeout: 0s}',
      {},
      'proxy.connect_timeout (SVC_PROXY_CONNECT_TIMEOUT): must be at least 1; got 0',
    ],
    [
      'a duration out of range in a variable',
      '',
      { SVC_PROXY_CONNECT_TIMEOUT: '11m' },
      'proxy.connect_timeout (SVC_PROXY_CONNECT_TIMEOUT): must be at most 600000; got 660000',
    ],
    [
      'a duration for a key of milliseconds',
      'proxy: {connect_timeout_ms: 3s}',
      {},
      'proxy.connect_timeout_ms (SVC_PROXY_CONNECT_TIMEOUT_MS): must be a number of milliseconds; 3s is for proxy.connect_timeout',
    ],
    [
      'a duration for a variable of milliseconds',
      '',
      { SVC_PROXY_CONNECT_TIMEOUT_MS: '3s' },
      'proxy.connect_timeout_ms (SVC_PROXY_CONNECT_TIMEOUT_MS): must be a number of milliseconds; 3s is for proxy.connect_timeout (SVC_PROXY_CONNECT_TIMEOUT)',
    ],
  ])('refuses %s, by the name that was used', (_, text, env, expected) => {
    const said = faultOf(text, env);
    expect(said).toContain(expected);
    expect(said).toContain('has 1 fault\n');
  });

  test('an empty variable is ignored', () => {
    expect(read('', { SVC_PROXY_CONNECT_TIMEOUT: '', SVC_PROXY_CONNECT_TIMEOUT_MS: '5' }).proxy.connect_timeout_ms).toBe(5);
  });
});
