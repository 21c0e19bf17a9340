import { codeOf, messageOf } from '@vitrine/faults/fault';
import { classifyPostgresError, type PostgresErrorClass } from './postgres-error.ts';

const AT = 'docs/failure-modes.md#database_unavailable';

/** By SQLSTATE or its prefix. */
const AFTER_STATE: Readonly<Record<string, string>> = {
  28: 'correct user and password of the DSN, or pg_hba.conf of the server: it refused them',
  '3D000': 'create the database that the DSN names, then run npm run migrate',
  42501: 'grant the user of the DSN its role, such as vitrine_gateway or vitrine_store_api',
  42: 'run npm run migrate: tables or columns are missing',
  53300: 'raise max_connections of the server, or run fewer processes',
  53: 'look at disk and memory of the database',
  '57P': 'wait for the server: it is starting or stopping',
};
const AFTER_TLS = "look at sslmode and sslrootcert of the DSN, and at the server's certificate and name";
const AFTER_FILE = 'correct the path of sslrootcert, sslcert or sslkey in the DSN, or its permissions';
const AFTER_CLIENT_CERTIFICATE = 'set sslcert and sslkey in the DSN, with a certificate that pg_hba.conf of the server accepts';
const AFTER_CLASS: Readonly<Record<PostgresErrorClass, string>> = {
  timeout: 'look at the load and the locks of the database, and at the network to it',
  connection: 'start the database of the DSN, or correct its address, then run npm run migrate',
  contention: 'look for transactions that hold locks for seconds (pg_stat_activity)',
  constraint: 'report it with the version: a row broke a rule of the tables, which is a bug',
  unknown: 'look at err, and at the log of the database',
};
/** Codes of OpenSSL and Node, and texts of the driver. */
const TLS = /CERT|ERR_TLS|ERR_SSL|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|EPROTO|does not support SSL|no encryption/;

/** Fields of a log line about an error of the database. */
export function databaseErrorFields(err: unknown): { err: unknown; error_class: PostgresErrorClass; next_step: string } {
  const error_class = classifyPostgresError(err);
  return { err, error_class, next_step: `${nextStep(err, error_class)}: ${AT}` };
}

function nextStep(error: unknown, errorClass: PostgresErrorClass): string {
  const code = codeOf(error);
  if (TLS.test(`${code} ${messageOf(error)}`)) return AFTER_TLS;
  if (/client certificate/.test(messageOf(error))) return AFTER_CLIENT_CERTIFICATE;
  if (messageOf(error).includes(', open ')) return AFTER_FILE;
  const states = code.length === 5 ? [code, code.slice(0, 3), code.slice(0, 2)] : [];
  const known = states.find((state) => AFTER_STATE[state] !== undefined);
  return AFTER_STATE[known ?? ''] ?? AFTER_CLASS[errorClass];
}
