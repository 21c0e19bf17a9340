import fc from 'fast-check';
import { expect, test } from '@jest/globals';
import { detect } from '@vitrine/registry/detection/detect';
import { LIST_BOUNDS, type PageEvidence, type StoreEvidence } from '@vitrine/registry/evidence/evidence';
import { readCorpus } from '@vitrine/registry/testing/corpus';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import { DEMO_FACTS } from '../demo/demo-store.ts';
import { CONTEXT, observationId } from '../testing/observations.ts';
import { DAY_MS, T0 } from '../testing/store-states.ts';
import type { LoggedObservation } from './derivation-context.ts';
import { deriveLog } from '../testing/derive-log.ts';

const CORPUS = readCorpus('corpus').flatMap(({ evidence }) => evidence.pages);
const CLASSES = ['home', 'product', 'collection'] as const;
const LISTS = Object.keys(LIST_BOUNDS) as (keyof typeof LIST_BOUNDS)[];

/** A page of which some lists were cut off. */
function cut(page: PageEvidence, lists: readonly (keyof typeof LIST_BOUNDS)[]): PageEvidence {
  const emptied = Object.fromEntries(lists.map((list) => [list, []]));
  return { ...page, ...emptied, truncated: [...page.truncated, ...lists] };
}

const stores = fc.array(fc.constantFrom(...CORPUS), { minLength: 1, maxLength: 3 }).map((pages): StoreEvidence => ({
  version: 1,
  pages: pages.map((page, i) => ({ ...page, pageClass: CLASSES[i] ?? 'other' })),
  endpoints: {},
}));
const losses = fc.record({
  lost: fc.subarray([0, 1, 2]),
  cut: fc.array(fc.tuple(fc.constantFrom(0, 1, 2), fc.constantFrom(...LISTS)), { maxLength: 3 }),
  scope: fc.constantFrom('full' as const, 'full' as const, 'partial' as const),
});

test('with all real rules, lost pages or lists of an unchanged store give no signal of a technology', () => {
  const logs = fc.tuple(stores, fc.array(losses, { minLength: 2, maxLength: 7 }));
  fc.assert(
    fc.property(logs, ([store, scans]) => {
      const log = scans.map((scan, day): LoggedObservation => {
        const pages = store.pages.flatMap((page, i) =>
          scan.lost.includes(i)
            ? []
            : [
                cut(
                  page,
                  scan.cut.flatMap(([at, list]) => (at === i ? [list] : [])),
                ),
              ],
        );
        const facts = { ...DEMO_FACTS, ...detect({ ...store, pages }), scope: scan.scope };
        return { id: observationId(day), completed_at: T0 + day * DAY_MS, registry_checksum: 'v1', facts };
      });
      const signals = deriveLog(log, CONTEXT)?.signals ?? [];
      expect(signals.filter(({ type }) => type.startsWith('technology_') || type === 'platform_migrated')).toEqual([]);
    }),
    { numRuns: propertyRuns(300) },
  );
});
