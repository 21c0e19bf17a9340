import { codeOf, messageOf } from '@vitrine/faults/fault';
import type { UpstreamErrorClass } from '@vitrine/traces/upstream-error';
import { upstreamError, type UpstreamError } from './upstream-error.ts';

/** The phase of a connection: resolving the host name, connecting, in the TLS handshake, or open. */
export type ConnectionStage = 'dns' | 'connect' | 'tls' | 'open';

/** Longer system messages are cut, because certificates list their names there. */
const DETAIL_MAX_LENGTH = 200;
const NOT_PRINTABLE = /[^\x20-\x7e\xa0-\xff]+/g;
const OPENSSL_REASON = /:SSL routines:[^:]*:([^:]+):/;
const TLS_CODE = /^(?:ERR_SSL_|ERR_TLS_|EPROTO$)/;

/** Converts a socket error to the error of the exchange in progress. `where`: how much of the response had arrived, when the connection
 *  was open.
 *  The classes and what to do about them: docs/failure-modes.md, Upstream errors. */
export function connectionError(error: unknown, at: ConnectionStage, isTls: boolean, where: string): UpstreamError {
  // A peer that resets has accepted the connection, even if the system reports the reset during the attempt. A closed port is reported
  // as ECONNREFUSED.
  const stage = at === 'connect' && codeOf(error) === 'ECONNRESET' ? (isTls ? 'tls' : 'open') : at;
  const detail = detailOf(error);
  return upstreamError(classOf(error, stage), stage === 'open' ? `${detail} ${where}` : detail, error);
}

/** No connection was established in time. */
export function connectTimeout(stage: ConnectionStage, host: string, timeoutMs: number): UpstreamError {
  if (stage === 'dns') return upstreamError('dns', `${host} not resolved within ${timeoutMs} ms`);
  const what = stage === 'tls' ? 'TLS handshake' : 'TCP connection';
  return upstreamError('connect_timeout', `no ${what} with ${host} within ${timeoutMs} ms`);
}

function classOf(error: unknown, stage: ConnectionStage): UpstreamErrorClass {
  if (stage === 'dns' || stage === 'tls') return stage;
  const codes = attemptsOf(error).map(codeOf);
  // A server refuses a client's certificate after the handshake (TLS 1.3).
  if (stage === 'open') return codes.some((code) => TLS_CODE.test(code)) ? 'tls' : 'reset';
  return codes.every((code) => code === 'ETIMEDOUT') ? 'connect_timeout' : 'connect_refused';
}

function detailOf(error: unknown): string {
  const texts = attemptsOf(error).map(textOf);
  return [...new Set(texts)].join('; ').replace(NOT_PRINTABLE, ' ').trim().slice(0, DETAIL_MAX_LENGTH);
}

/** A host with several addresses gives an aggregate error: one for each, and no message. */
function attemptsOf(error: unknown): readonly unknown[] {
  const several = typeof error === 'object' && error !== null && 'errors' in error ? error.errors : undefined;
  return Array.isArray(several) && several.length > 0 ? several : [error];
}

/** OpenSSL's messages name its functions and source files. */
function textOf(error: unknown): string {
  const code = codeOf(error);
  const message = messageOf(error);
  const [, text = message] = OPENSSL_REASON.exec(message) ?? [];
  return code === '' || text.includes(code) ? text : `${code}: ${text}`;
}
