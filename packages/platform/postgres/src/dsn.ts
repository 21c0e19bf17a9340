import type { Secret } from '@vitrine/config/secret';
import { Fault } from '@vitrine/faults/fault';

const DEFAULT_PORT = 5432;

export const DSN_FORM = 'postgresql://user:password@host:5432/database';

/** The server, database and user that a DSN names. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** The parts of a DSN that may be logged. Faults: `invalid_dsn`. */
export function addressOf(dsn: Secret): PostgresAddress {
  const url = parse(dsn.reveal());
  const name = decode(url.pathname.slice(1));
  // A socket folder is in the query, and its URL has no host.
  const host = url.hostname || (url.searchParams.get('host') ?? 'localhost');
  const user = decode(url.username) || (url.searchParams.get('user') ?? '');
  return { host, port: Number(url.port || DEFAULT_PORT), database: name || user, user };
}

/** `postgresql://host:port/database`. */
export function addressText({ host, port, database }: PostgresAddress): string {
  return `postgresql://${host}:${port}/${database}`;
}

/** The driver would report a malformed DSN with all its text, and with it the password. */
function parse(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol) || url.pathname.length < 2)
    throw new Fault('invalid_dsn', { say: `the DSN must have the form ${DSN_FORM}` });
  return url;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
