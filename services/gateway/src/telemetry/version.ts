import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string };

/** The running gateway's version, as `GET /` and `GET /api/health` report it. */
export const VERSION: string = manifest.version;
