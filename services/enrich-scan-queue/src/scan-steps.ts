import { publicUrlsOf } from '@vitrine/stores/profile/public-urls';
import { detect } from '@vitrine/registry/detection/detect';
import { REGISTRY_CHECKSUM } from '@vitrine/registry/registry-checksum';
import { commitObservation } from '@vitrine/stores/commit/commit-observation';
import { createId } from '@vitrine/stores/identifiers';
import { randomBytes } from 'node:crypto';
import type { ScanConfig } from './config.ts';
import { createFetchSettings } from './fetch/create-fetch-settings.ts';
import { createScanStorefront } from './fetch/scan-storefront.ts';
import { describeStorefront } from './observation/describe-storefront.ts';
import { RULES } from './observation/rules.ts';
import type { ScanSteps } from './run-scan.ts';
import { VERSION } from './version.ts';

/** The steps of a scan: read the storefront, describe what was read, commit what follows from it. `now`: milliseconds since the epoch. */
export function createScanSteps(config: ScanConfig, now: () => number): ScanSteps {
  const urls = publicUrlsOf(config.public);
  return {
    scanStorefront: createScanStorefront({
      settings: createFetchSettings(config.fetch, VERSION),
      now,
    }),
    describe: (capture) => ({ ...describeStorefront(capture, detect), registry_checksum: REGISTRY_CHECKSUM }),
    commit: async (transaction, completed) => {
      const observation = { ...completed, id: newId('obs') };
      const createStorefrontId = () => newId('sf');
      return commitObservation(transaction, observation, { urls, createStorefrontId, rules: RULES });
    },
  };
}

function newId(prefix: 'obs' | 'sf'): string {
  return createId(prefix, Date.now(), randomBytes);
}
