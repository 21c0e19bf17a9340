/** Why the server closed a client's connection, or did not accept it. */
export const CLOSE_REASONS = [
  /** The connection limit was reached. */
  'connection_limit',
  'connect_method',
  'malformed_request',
  'header_overflow',
  'request_timeout',
  /** The client did not read its response. */
  'client_stalled',
] as const;
export type CloseReason = (typeof CLOSE_REASONS)[number];

/** Closed connections by reason, since the server was made; every reason counts from 0. */
type CloseCounts = Record<CloseReason, number>;

export function createCloseCounts(): CloseCounts {
  return Object.fromEntries(CLOSE_REASONS.map((reason) => [reason, 0])) as CloseCounts;
}
