import { codeOf, isFault, type Fault } from '@vitrine/faults/fault';
import { scrub } from '@vitrine/privacy/scrub';
import type { Logger } from '@vitrine/telemetry/logger';
import type { Request, Response } from 'express';

/** Sends the JSON response to a failed request, and logs failures of the service. */
export function sendFault(
  error: unknown,
  request: Request,
  response: Response,
  { logger, faults, correlationHeader }: { logger: Logger; faults: FaultStatuses; correlationHeader: string },
): void {
  // The rest of an aborted request is not read, because a request after it would wait forever.
  if (!request.complete && request.readableAborted) response.setHeader('Connection', 'close');
  const fault = isFault(error) ? error : undefined;
  // Express's own errors (a malformed percent escape in the path) carry a status below 500.
  if (fault === undefined && isClientError(error))
    return void response.status(400).json({ error: 'the request could not be parsed' });
  if (fault === undefined || !isExpected(fault.code, faults))
    logger.error(
      { ...failureOf(error, fault), path: request.path, correlation_id: response.getHeader(correlationHeader) },
      'request failed',
    );
  // The error may contain client input.
  const text = fault === undefined ? UNLISTED : scrub(responseText(fault, faults)).text;
  response.status(fault === undefined ? 500 : statusOf(fault.code, faults)).json({ error: text });
}

function failureOf(error: unknown, fault: Fault | undefined) {
  const causeCode = codeOf(fault?.cause);
  return {
    err: error,
    code: codeOf(error),
    ...(causeCode === '' ? {} : { cause_code: causeCode }),
    next_step: fault === undefined ? 'report it with this line: it is a bug' : `see docs/failure-modes.md#${fault.code}`,
  };
}

function isClientError(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'status' in error && Number(error.status) >= 400 && Number(error.status) < 500
  );
}

/** The statuses of a service's faults, in addition to those of this package. */
export interface FaultStatuses {
  /** By code; 500 for every other. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Codes with a status of 500 or above that are expected responses: they are logged elsewhere, if at all. */
  readonly expected: readonly string[];
  /** By code, the response text that replaces the fault's own text, which contains local paths. */
  readonly replaced?: Readonly<Record<string, string>>;
}

const UNLISTED = 'internal server error';

/** Statuses of the faults that reading a request can throw. */
const REQUEST_STATUSES: Readonly<Record<string, number>> = { invalid_query: 400, invalid_body: 400, body_too_large: 413 };

export function statusOf(code: string, { statuses }: FaultStatuses): number {
  return REQUEST_STATUSES[code] ?? statuses[code] ?? 500;
}

/** The response text of a fault. The text of an internal fault may contain local paths. */
function responseText({ code, say }: { readonly code: string; readonly say: string }, faults: FaultStatuses): string {
  const isListed = Object.hasOwn(REQUEST_STATUSES, code) || Object.hasOwn(faults.statuses, code);
  return faults.replaced?.[code] ?? (isListed ? say : UNLISTED);
}

/** Whether a fault is an expected response and not a failure of the service. */
export function isExpected(code: string, faults: FaultStatuses): boolean {
  return statusOf(code, faults) < 500 || faults.expected.includes(code);
}
