import { detect } from '@vitrine/registry/detection/detect';
import { storeEvidence } from '@vitrine/registry/evidence/evidence';
import { REGISTRY_CHECKSUM } from '@vitrine/registry/registry-checksum';
import { REGISTRY_INDEX } from '@vitrine/registry/rules/rule-index';
import type { Rules } from '@vitrine/stores/commit/rule-sets';

/** As sightings have them. */
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
