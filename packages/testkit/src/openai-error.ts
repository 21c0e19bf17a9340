const TYPES: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  401: ['invalid_request_error', 'invalid_api_key'],
  403: ['invalid_request_error', 'unsupported_country_region_territory'],
  429: ['requests', 'rate_limit_exceeded'],
};

/** The body of an OpenAI error. */
export function openaiError(status: number, message: string) {
  const [type, code] = TYPES[status] ?? [status < 500 ? 'invalid_request_error' : 'server_error', null];
  return { error: { message, type, param: null, code } };
}
