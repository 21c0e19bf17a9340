import { expect, test } from '@jest/globals';
import { decodeScanRequest } from './request-handler.ts';

const request = { scan_job_id: `job_${'0'.repeat(26)}`, domain: 'example.com' };
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

test.each([
  ['a request', bytes(request), request],
  ['a request with a field of a later version', bytes({ ...request, priority: 1 }), request],
  ['nothing', null, undefined],
  ['no JSON', bytes('{'), undefined],
  ['no object', bytes('null'), undefined],
  ['another id', bytes({ ...request, scan_job_id: "job_' OR 1" }), undefined],
  ['no domain', bytes({ scan_job_id: request.scan_job_id }), undefined],
  ['what is far too long', bytes({ ...request, filler: 'x'.repeat(5_000) }), undefined],
])('reads %s', (_, value, expected) => {
  expect(decodeScanRequest(value)).toEqual(expected);
});
