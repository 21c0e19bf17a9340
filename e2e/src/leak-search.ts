import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';

/** All files below a folder except some, as texts: their bytes; and of SQLite databases every value, unpacked. */
export async function filesText(folder: string, except: readonly string[] = []): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((one) => one.isFile() && !except.includes(one.name)).map((one) => join(one.parentPath, one.name));
  const bytes = await Promise.all(paths.map((path) => readFile(path, 'latin1')));
  return [...bytes, ...paths.filter((path) => path.endsWith('.db')).map(databaseText)].join('\n');
}

/** Every value of every table, decompressed where necessary. */
export function databaseText(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    return tables
      .flatMap(({ name }) =>
        database
          .prepare(`SELECT * FROM "${String(name)}"`)
          .all()
          .flatMap(valuesText),
      )
      .join('\n');
  } finally {
    database.close();
  }
}

function valuesText(row: Record<string, unknown>): string[] {
  return Object.values(row).map((value) => {
    if (!(value instanceof Uint8Array)) return String(value);
    const isZstd = value[0] === 0x28 && value[1] === 0xb5 && value[2] === 0x2f && value[3] === 0xfd;
    return (isZstd ? zstdDecompressSync(value) : Buffer.from(value)).toString('latin1');
  });
}

/** Everything that a collector received. */
export function telemetryText(received: unknown): string {
  return JSON.stringify(received, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** Bodies of a trace's detail that are not text. */
export function unpackedBodies(detail: string): string[] {
  const { metadata, ...trace } = JSON.parse(detail) as Record<string, string> & { metadata: Record<string, string> };
  return ['request_body', 'response_body'].flatMap((body) =>
    metadata[`${body}_encoding`] === 'base64' ? [Buffer.from(trace[body] ?? '', 'base64').toString('latin1')] : [],
  );
}
