const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** The trace id in a `traceparent` header; '' when it is invalid. Source: W3C Trace Context, 3.2. */
export function traceIdIn(traceparent: string | readonly string[] | undefined): string {
  if (typeof traceparent !== 'string') return '';
  const [, version, traceId = '', spanId, more] = TRACEPARENT.exec(traceparent.trim()) ?? [];
  const isBroken = version === 'ff' || traceId === NO_TRACE || spanId === NO_SPAN || (version === '00' && more !== undefined);
  return isBroken ? '' : traceId;
}
