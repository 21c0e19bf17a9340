/** The JSON error response to a request that is rejected before it is served. */
export interface Rejection {
  readonly status: number;
  /** `error` of the JSON body. */
  readonly error: string;
  /** The other fields of the body. */
  readonly details?: Readonly<Record<string, string | number | undefined>>;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
  /** The code in the audit event; a rejection without one is not audited. */
  readonly reason?: string;
}

export function rejectionBody({ error, details }: Rejection): object {
  return { error, ...details };
}
