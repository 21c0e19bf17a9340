import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PayloadPage, unpackPayload } from './payload-page.ts';

test('every payload comes back as it went in', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  const body = fc.option(text, { nil: undefined });
  const payload = fc.record({
    request_headers: text,
    response_headers: text,
    metadata: text,
    request_body: body,
    response_body: body,
  });
  const page = new PayloadPage();
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 8 }), (payloads) => {
      page.clear();
      for (const one of payloads) page.add(one, 0);
      const packed = page.pack();
      expect(payloads.map((_, i) => unpackPayload(packed, page.count, i))).toEqual(payloads);
    }),
  );
});

test('a page that was filled serves the next one, also behind one of 9 MB', () => {
  const page = new PayloadPage();
  const of = (request_body: string) => ({
    request_headers: '',
    response_headers: '',
    metadata: '{}',
    request_body,
    response_body: undefined,
  });
  page.add(of('a'.repeat(9_000_000)), 7);
  expect([page.isFull, page.newest, page.pack().length]).toEqual([true, 7, 9_000_000 + 2 + 20]);
  page.clear();
  expect([page.isFull, page.newest, page.count]).toEqual([false, 0, 0]);
  page.add(of('b'), 1);
  expect(unpackPayload(page.pack(), 1, 0)).toEqual(of('b'));
});
