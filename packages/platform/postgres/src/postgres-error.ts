import { codeOf, messageOf } from '@vitrine/faults/fault';

/** Why a statement failed, in the order in which the classes are tested. Spec: G12.6, G14.28. */
export type PostgresErrorClass = 'timeout' | 'connection' | 'contention' | 'constraint' | 'unknown';

// Server codes are SQLSTATEs (PostgreSQL, Appendix A). System codes begin with E. The driver's own errors have only a text.
const TIMEOUT_CODES = new Set(['57014', '25P03', '57P05', 'ETIMEDOUT']);
const READ_TIMEOUT = 'Query read timeout';
const TIMEOUT_TEXTS = [READ_TIMEOUT, 'timeout exceeded when trying to connect', 'timeout expired'];

/** Shutdown and start of the server, too many connections, wrong credentials and a missing database. While waiting for the database these all
 *  count as "not yet". */
const CONNECTION_CODES = new Set(['57P01', '57P02', '57P03', '53300', '3D000']);
const CONNECTION_CLASSES = new Set(['08', '28']);
const SYSTEM_CODES =
  /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOENT|EACCES)$/;
/** Codes of OpenSSL and Node for refused certificates and handshakes. */
const TLS_CODES = /CERT|^ERR_(?:TLS|SSL)|SELF_SIGNED|^UNABLE_TO_(?:VERIFY|GET)|^EPROTO$/;
const CONNECTION_TEXTS = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed',
  'The server does not support SSL',
];

/** Serialization failure, deadlock, lock timeout, object in use. */
const CONTENTION_CODES = new Set(['40001', '40P01', '55P03', '55006', 'postgres_pool_full']);

/** A value that does not fit its column is refused like a row that violates a constraint. */
const CONSTRAINT_CLASSES = new Set(['22', '23', '44']);

export function classifyPostgresError(error: unknown): PostgresErrorClass {
  const code = codeOf(error);
  const message = messageOf(error);
  const hasText = (texts: readonly string[]) => texts.some((text) => message.includes(text));
  const sqlClass = code.length === 5 ? code.slice(0, 2) : '';
  if (TIMEOUT_CODES.has(code) || hasText(TIMEOUT_TEXTS)) return 'timeout';
  const isConnection =
    CONNECTION_CODES.has(code) || CONNECTION_CLASSES.has(sqlClass) || SYSTEM_CODES.test(code) || TLS_CODES.test(code);
  if (isConnection || hasText(CONNECTION_TEXTS)) return 'connection';
  if (CONTENTION_CODES.has(code)) return 'contention';
  if (CONSTRAINT_CLASSES.has(sqlClass)) return 'constraint';
  return 'unknown';
}

/** Too many connections, out of memory, a configured limit; a statement that was cancelled or waited too long for a lock; a deadlock or
 *  serialization failure; too many calls of this process. */
const OVERLOAD_CODES = new Set(['53300', '53200', '53400', '57014', '55P03', '40P01', '40001', 'postgres_pool_full']);
const CONNECT_TIMEOUT_TEXTS = ['timeout exceeded when trying to connect', 'timeout expired'];

/** Whether the pool or the server was overloaded, so that the same call may succeed a second later. */
export function isOverload(error: unknown): boolean {
  const message = messageOf(error);
  return OVERLOAD_CODES.has(codeOf(error)) || CONNECT_TIMEOUT_TEXTS.some((text) => message.includes(text));
}

/** Errors of a connection that was never established. */
const NOT_CONNECTED_CODES = new Set(['53300', '57P03', '3D000', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** Whether an error proves that its statement was never sent, because there was no connection. */
export function wasNeverSent(error: unknown): boolean {
  const code = codeOf(error);
  return NOT_CONNECTED_CODES.has(code) || code.startsWith('28');
}

/** The error of a statement that the server may still be running. The connection is unusable. The text equals the driver's own. */
export function readTimeout(): Error {
  return new Error(READ_TIMEOUT);
}

export function isReadTimeout(error: unknown): boolean {
  return messageOf(error) === READ_TIMEOUT;
}
