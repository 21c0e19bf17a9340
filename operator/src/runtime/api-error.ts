/** A response of the API server with a status of 400 or above. */
export class ApiError extends Error {
  readonly code = 'kubernetes_api_error';
  readonly status: number;
  /** Such as `NotFound`, `AlreadyExists`, `Conflict`, `Expired`; empty when the server gave none. */
  readonly reason: string;

  constructor(message: string, status: number, reason: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

interface Status {
  readonly message?: string;
  readonly reason?: string;
}

const MAX_MESSAGE = 500;

/** `body`: a `Status` as JSON, or any text of something in front of the API server. */
export function apiError(method: string, path: string, status: number, body: string): ApiError {
  const { message = body, reason = '' } = readStatus(body);
  return new ApiError(`${method} ${path}: ${status} ${reason}: ${message.slice(0, MAX_MESSAGE)}`, status, reason);
}

/** Whether an error is the API server's with this status, and with this reason when one is given. */
export function hasStatus(error: unknown, status: number, reason?: string): boolean {
  return error instanceof ApiError && error.status === status && (reason ?? error.reason) === error.reason;
}

function readStatus(body: string): Status {
  try {
    const { message, reason } = JSON.parse(body) as Status;
    return { ...(typeof message === 'string' && { message }), ...(typeof reason === 'string' && { reason }) };
  } catch {
    return {};
  }
}
