const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** The body of an Anthropic error; in a stream the data of `event: error`. */
export function anthropicError(status: number, message: string, number: number) {
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return { type: 'error', error: { type, message }, request_id: anthropicRequestId(number) };
}

export function anthropicRequestId(number: number): string {
  return `req_mock${number}`;
}
