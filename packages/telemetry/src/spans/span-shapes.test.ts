import { expect, test } from '@jest/globals';
import { SpanShapes } from './span-shapes.ts';

test('a shape is made once; beyond 4,096 others are made each time', () => {
  const shapes = new SpanShapes();
  let made = 0;
  const of = (key: string) =>
    shapes.of([key], () => {
      made += 1;
      return { name: key, kind: 'internal' as const, attributes: [], failure: undefined };
    });
  for (let key = 0; key < 4_096; key += 1) of(String(key));
  expect(of('7')).toBe(of('7'));
  expect(made).toBe(4_096);
  expect(of('more')).not.toBe(of('more'));
  expect(made).toBe(4_098);
});
