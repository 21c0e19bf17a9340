import type { TraceRecord } from '@vitrine/traces/trace-record';

const NUL = '\0';
const BODIES = ['request_body', 'response_body'] as const;

/** A record that Postgres can store, whose texts cannot contain U+0000. A body with U+0000 becomes base64 of its UTF-8, marked in the metadata
 *  like bodies that are not text. Elsewhere U+FFFD replaces it. Nearly all records have none and are returned unchanged. */
export function storableRecord(record: TraceRecord): TraceRecord {
  return hasNul(record) || hasNul(record.scope) || hasNul(record.lineage) ? withoutNul(record) : record;
}

/** A text that columns can store; other values are unchanged. Filters use it too, so that they find stored values. */
export function plain(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll(NUL, '\uFFFD') : value;
}

function hasNul(fields: object): boolean {
  // Avoids `Object.values`, whose array took a microsecond per record.
  for (const name in fields) {
    const value = (fields as Readonly<Record<string, unknown>>)[name];
    if (typeof value === 'string' && value.includes(NUL)) return true;
  }
  return false;
}

function withoutNul(record: TraceRecord): TraceRecord {
  const encoded = BODIES.filter((body) => record[body]?.includes(NUL) === true);
  const bodies = encoded.map((body) => [body, Buffer.from(record[body] ?? '').toString('base64')]);
  const stored = { ...record, ...Object.fromEntries(bodies) } as TraceRecord;
  return {
    ...replaced(stored),
    scope: replaced(stored.scope),
    lineage: replaced(stored.lineage),
    metadata: encoded.length === 0 ? replaced(stored).metadata : withEncodings(replaced(stored).metadata, encoded),
  };
}

function replaced<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)])) as T;
}

function withEncodings(metadata: string, bodies: readonly (typeof BODIES)[number][]): string {
  const encodings = bodies.map((body) => [`${body}_encoding`, 'base64']);
  return JSON.stringify({ ...(JSON.parse(metadata) as object), ...Object.fromEntries(encodings) });
}
