import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/** The tables of a store's file in every version of the store. */
export interface OwnTables {
  /** Such as `a Vitrine trace file`. */
  readonly what: string;
  readonly tables: readonly string[];
  /** The newest `user_version` that this program supports. */
  readonly version: number;
}

const HEAD_BYTES = 512;
/** SQLite's smallest page. A smaller, non-empty file is not a database. */
const SMALLEST_DATABASE_BYTES = 512;
const SQLITE_NOTADB = 26;
/** How many tables of a foreign database are named. */
const NAMED_TABLES = 5;
const LONGEST_NAME = 64;

/** Identifies the file at a path, which may be replaced while the old one is open. Undefined while there is none. */
export function fileAt(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/** Why the file at a path is not a store of this version: other content, or a newer version. Undefined when it is one, does not exist, or cannot
 *  be read. Opening the store then reports why. Changes nothing and leaves no file behind. */
export function foreignFile(path: string, own: OwnTables): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || (stats.size === 0 && stats.isFile())) return undefined;
    if (stats.isDirectory()) return 'the file is a folder';
    // Opening a pipe would block.
    if (!stats.isFile()) return 'the file is neither a file nor a folder';
    if (stats.size < SMALLEST_DATABASE_BYTES) return noDatabaseText(path);
    return foreignDatabase(path, own);
  } catch {
    return undefined;
  }
}

/** Refuses to create tables in a database with tables of another program. */
export function refuseForeignTables(database: DatabaseSync, own: OwnTables): void {
  const tables = tablesIn(database);
  if (tables.length > 0) throw new Error(foreignText(tables, 0, own));
}

function foreignDatabase(path: string, own: OwnTables): string | undefined {
  try {
    const { tables, version, applicationId } = readSchema(path);
    if (tables.length === 0 && version === 0 && applicationId === 0) return undefined;
    const isOwn = version > 0 && own.tables.every((table) => tables.includes(table));
    if (!isOwn) return foreignText(tables, version, own);
    return version > own.version ? newerText(version, own) : undefined;
  } catch (error) {
    if (isNoDatabase(error)) return noDatabaseText(path);
    throw error;
  }
}

function readSchema(path: string): { tables: readonly string[]; version: number; applicationId: number } {
  using database = openUntouched(path);
  // Reads one snapshot, because another process may be creating its tables, and its new version with the old tables would look foreign.
  database.exec('BEGIN');
  const tables = tablesIn(database);
  return { tables, version: pragmaOf(database, 'user_version'), applicationId: pragmaOf(database, 'application_id') };
}

/** The error for a file written by a newer version of this program. Tables are never downgraded. */
export function newerText(found: number, { version }: OwnTables): string {
  return `the file has schema ${found}, this version supports up to ${version}`;
}

function pragmaOf(database: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}

/** A database in use is opened normally. An unused one is opened as immutable, because otherwise SQLite would leave files beside it. */
function openUntouched(path: string): DatabaseSync {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    return new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true });
}

function tablesIn(database: DatabaseSync): string[] {
  const own =
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
  return database
    .prepare(own)
    .all()
    .map((row) => String(row['name']));
}

function foreignText(tables: readonly string[], version: number, { what }: OwnTables): string {
  const named = tables.slice(0, NAMED_TABLES).map((name) => JSON.stringify(name.slice(0, LONGEST_NAME)));
  const more = tables.length > named.length ? ` and ${tables.length - named.length} more` : '';
  const contents =
    tables.length === 0
      ? 'contains no tables'
      : `contains ${tables.length === 1 ? 'the table' : 'the tables'} ${named.join(', ')}${more}`;
  return `the file ${contents} (user_version ${version}) and is not ${what}`;
}

function isNoDatabase(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errcode' in error && Number(error.errcode) === SQLITE_NOTADB;
}

/** Call only for files that are not databases, because closing a file releases all locks of the process on it, including those of another
 *  connection. */
function noDatabaseText(path: string): string {
  return `the file is ${kindOf(headOf(path))} and not an SQLite database`;
}

function headOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    return head.subarray(0, readSync(file, head, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

/** Detected by the first bytes, which are not quoted because they may be a secret. */
function kindOf(head: Buffer): string {
  const text = head.toString('latin1');
  if (text.startsWith('\x1f\x8b')) return 'a gzip file';
  if (text.startsWith('PK\x03\x04')) return 'a zip file';
  if (text.startsWith('-----BEGIN ')) return 'a PEM file';
  // Text has tabs, line ends and escape sequences, and no other control characters.
  return head.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x1b) ? 'text' : 'binary data';
}
