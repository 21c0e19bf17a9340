import { openPepperFile } from '@vitrine/credentials/pepper-file';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The secrets of the store API and its database, created on the first start. */
interface StoresFiles {
  readonly folder: string;
  readonly password: string;
  /** `VERSION:SECRET`. */
  readonly peppers: readonly string[];
  readonly serviceToken: string;
}

/** The caller must have locked the folder. */
export function openStoresFiles(folder: string): StoresFiles {
  const pepperFile = join(folder, 'pepper');
  openPepperFile(pepperFile, randomBytes, Date.now());
  return {
    folder,
    password: secretIn(join(folder, 'postgres-password')),
    peppers: readFileSync(pepperFile, 'utf8').trim().split('\n'),
    serviceToken: secretIn(join(folder, 'graphql-token')),
  };
}

/** The configuration with which commands reach the running database: `npm run store-api -- key list --config FILE`. */
export function writeConfigFile({ folder, peppers, serviceToken }: StoresFiles, dsn: string, apiUrl: string): string {
  const path = join(folder, 'store-api.yaml');
  const config = {
    storage: { dsn },
    auth: { peppers },
    graphql: { service_token: serviceToken },
    public: { api_url: apiUrl },
  };
  // JSON is YAML.
  writeFileSync(path, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
  return path;
}

/** Written under another name and then renamed, so that a killed start or a full disk leaves no empty secret behind. */
function secretIn(path: string): string {
  // No data was created with an empty one, because Postgres refuses it.
  if (!existsSync(path) || readFileSync(path, 'utf8') === '') {
    const aside = `${path}.new`;
    try {
      writeFileSync(aside, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true });
      renameSync(aside, path);
    } finally {
      rmSync(aside, { force: true });
    }
  }
  return readFileSync(path, 'utf8');
}
