/** The statuses of a service's faults, beside those of this package. */
export interface FaultStatuses {
  /** By code; 500 for every other. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Codes with a status of 500 or above that are expected responses: they are logged elsewhere, if at all. */
  readonly expected: readonly string[];
  /** By code, what responses say instead of the fault's own sentence, which names files of this machine. */
  readonly replaced?: Readonly<Record<string, string>>;
}

export const UNLISTED = 'internal server error';

/** Of the faults that reading a request can throw. */
const REQUEST_STATUSES: Readonly<Record<string, number>> = { invalid_query: 400, invalid_body: 400, body_too_large: 413 };

export function statusOf(code: string, { statuses }: FaultStatuses): number {
  return REQUEST_STATUSES[code] ?? statuses[code] ?? 500;
}

/** What a response says of a fault. The sentence of one that no response is meant to carry may name files of this machine. */
export function responseText({ code, say }: { readonly code: string; readonly say: string }, faults: FaultStatuses): string {
  const isListed = Object.hasOwn(REQUEST_STATUSES, code) || Object.hasOwn(faults.statuses, code);
  return faults.replaced?.[code] ?? (isListed ? say : UNLISTED);
}

/** Whether a fault is an expected response, and no failure of the service. */
export function isExpected(code: string, faults: FaultStatuses): boolean {
  return statusOf(code, faults) < 500 || faults.expected.includes(code);
}
