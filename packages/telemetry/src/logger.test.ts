import { expect, test } from '@jest/globals';
import { createLogger } from './logger.ts';

test('a credential reaches no log line, wherever it stood', () => {
  const lines: string[] = [];
  const logger = createLogger('svc-gateway', 'info', { write: (line) => lines.push(line) });
  const canary = 'sk-proj-canary0123456789';
  logger.info({ nested: { key: canary }, err: new Error(`refused ${canary}`) }, `used ${canary}`);
  logger.child({ [canary]: 1 }).warn('child');
  expect(lines).toHaveLength(2);
  expect(lines.join('')).not.toContain('canary0123456789');
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { level: 'info', service: 'svc-gateway' },
    { level: 'warn' },
  ]);
});

test('a line carries the ids of the span that is active when it is written', () => {
  const lines: string[] = [];
  const correlation = { fields: (): object => ({}) };
  const logger = createLogger('svc-gateway', 'info', { write: (line) => lines.push(line) }, correlation);
  logger.info('before');
  correlation.fields = () => ({ trace_id: 'a', span_id: 'b' });
  logger.info({ correlation_id: 'c' }, 'within');
  const parsed = lines.map((line) => JSON.parse(line) as object);
  expect(parsed[0]).not.toHaveProperty('trace_id');
  expect(parsed[1]).toMatchObject({ trace_id: 'a', span_id: 'b', correlation_id: 'c', msg: 'within' });
});
