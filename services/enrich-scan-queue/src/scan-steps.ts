import { publicUrlsOf } from '@vitrine/stores/profile/public-urls';
import { detect } from '@vitrine/registry/detection/detect';
import { storeEvidence } from '@vitrine/registry/evidence/evidence';
import { REGISTRY_CHECKSUM } from '@vitrine/registry/registry-checksum';
import { REGISTRY_INDEX } from '@vitrine/registry/rules/rule-index';
import { commitObservation } from '@vitrine/stores/commit/commit-observation';
import type { Rules } from '@vitrine/stores/commit/rule-sets';
import { createId } from '@vitrine/stores/identifiers';
import { randomBytes } from 'node:crypto';
import type { ScanConfig } from './config.ts';
import { createFetchSettings } from './fetch/fetch-settings.ts';
import { createScanStorefront } from './fetch/scan-storefront.ts';
import { describeStorefront } from './observation/describe-storefront.ts';
import type { ScanSteps } from './run-scan.ts';
import { VERSION } from './version.ts';

/** The maximum length of a rule id in sightings. */
const MAX_ID_CHARACTERS = 200;

/** The rules of this build, for comparisons with observations under other rules. Evidence of another version is not read. */
export const RULES: Rules = {
  registry_checksum: REGISTRY_CHECKSUM,
  ids: [...new Set(REGISTRY_INDEX.ruleIds.map((id) => id.slice(0, MAX_ID_CHARACTERS)))],
  detect: (evidence) => {
    const { data } = storeEvidence.safeParse(evidence);
    return data && detect(data);
  },
};

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
