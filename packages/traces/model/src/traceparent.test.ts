import { expect, test } from '@jest/globals';
import { traceIdIn } from './traceparent.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test.each([
  [`00-${TRACE}-${SPAN}-01`, TRACE],
  [` 00-${TRACE}-${SPAN}-00 `, TRACE],
  // A future version may have more fields.
  [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`, TRACE],
  [`00-${TRACE}-${SPAN}-01-more`, ''],
  [`ff-${TRACE}-${SPAN}-01`, ''],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, ''],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, ''],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, ''],
  [`00-${TRACE}-${SPAN}`, ''],
  [`00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`, ''],
  [undefined, ''],
  ['', ''],
])('the trace id of %j is %j', (header, traceId) => {
  expect(traceIdIn(header)).toBe(traceId);
});
