import { readFileSync } from 'node:fs';

/** The version that a package.json has. */
export function readVersion(manifest: URL): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version;
}
