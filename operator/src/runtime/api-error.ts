/** An error response of the API server (status 400 or above), or a missing or unreadable one. */
export class ApiError extends Error {
  readonly code = 'kubernetes_api_error';
  /** 0 when there was no response. */
  readonly status: number;
  /** Such as `NotFound`, `AlreadyExists`, `Conflict`, `Expired`; empty when the server gave none. */
  readonly reason: string;

  constructor(message: string, status: number, reason: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.reason = reason;
  }
}

interface Status {
  readonly message?: string;
  readonly reason?: string;
}

const MAX_MESSAGE = 500;

/** `body`: a `Status` as JSON, or any text of a proxy in front of the API server. `sent`: the object of the request. */
export function apiError(method: string, path: string, status: number, body: string, sent?: unknown): ApiError {
  const { message = body, reason = '' } = readStatus(body);
  const shown = withoutSecretData(message, sent).slice(0, MAX_MESSAGE);
  return new ApiError(`${method} ${path}: ${status} ${reason}: ${shown}`, status, reason);
}

/** Webhooks and policies may quote any part of an object, but the message is used in logs and conditions. */
function withoutSecretData(message: string, sent: unknown): string {
  const { data } = (sent ?? {}) as { data?: Readonly<Record<string, unknown>> };
  const encoded = Object.values(data ?? {}).filter((value) => typeof value === 'string' && value !== '') as string[];
  const values = encoded.flatMap((value) => [value, Buffer.from(value, 'base64').toString()]);
  return values.filter((value) => value !== '').reduce((text, value) => text.replaceAll(value, '***'), message);
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
