import { expect, test } from '@jest/globals';
import { createLogger } from './logger.ts';

test('no log line contains a credential, wherever it was', () => {
  const lines: string[] = [];
  const logger = createLogger('svc-orders', 'info', { write: (line) => lines.push(line) });
  const canary = 'sk-proj-canary0123456789';
  logger.info({ nested: { key: canary }, err: new Error(`refused ${canary}`) }, `used ${canary}`);
  logger.child({ [canary]: 1 }).warn('child');
  expect(lines).toHaveLength(2);
  expect(lines.join('')).not.toContain('canary0123456789');
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { level: 'info', service: 'svc-orders' },
    { level: 'warn' },
  ]);
});
