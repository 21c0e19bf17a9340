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
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 8 }), (payloads) => {
      const page = new PayloadPage();
      for (const one of payloads) page.add(one, 0);
      const packed = page.pack();
      expect(payloads.map((_, i) => unpackPayload(packed, page.count, i))).toEqual(payloads);
    }),
  );
});
