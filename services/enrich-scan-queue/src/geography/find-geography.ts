import type { ObservationFacts } from '@vitrine/stores/observation/observation-facts';
import {
  countryCode,
  countryOfCurrency,
  countryOfDomain,
  countryOfLanguage,
  countryOfPhone,
  countryOfVatId,
} from './country-hints.ts';

/** Evidence of a scan for the country of a store, independent of the location of the scanner. */
export interface GeographyEvidence {
  readonly domain: string;
  /** From the shop's own settings. */
  readonly settingsCountry: string | null;
  /** From shipping origins, return addresses and the organisation's address in structured data. */
  readonly addressCountries: readonly string[];
  readonly currency: string | null;
  /** From `lang` and `og:locale`. */
  readonly languages: readonly string[];
  readonly phones: readonly string[];
  readonly vatIds: readonly string[];
}

/** Number of weak signals that have to agree. Spec: S8.12. */
const FEWEST_SIGNALS = 2;

/**
 * `observed` from settings, else from addresses that agree; `inferred` if two kinds of weak signals agree and no other country has as
 * many.
 */
export function findGeography(evidence: GeographyEvidence): ObservationFacts['geography'] {
  const settings = countryCode(evidence.settingsCountry);
  if (settings !== null) return { country: settings, basis: 'observed' };
  const addresses = countriesOf(evidence.addressCountries, countryCode);
  if (addresses.size === 1) return { country: [...addresses][0] ?? null, basis: 'observed' };

  const kinds = [
    countriesOf([evidence.domain], countryOfDomain),
    countriesOf([evidence.currency], countryOfCurrency),
    countriesOf(evidence.languages, countryOfLanguage),
    countriesOf(evidence.phones, countryOfPhone),
    countriesOf(evidence.vatIds, countryOfVatId),
  ];
  // A kind of signal with several countries is ignored.
  const votes = new Map<string, number>();
  for (const [country, ...others] of kinds.map((kind) => [...kind])) {
    if (country !== undefined && others.length === 0) votes.set(country, (votes.get(country) ?? 0) + 1);
  }
  const [best, next] = [...votes].toSorted((a, b) => b[1] - a[1]);
  if (best === undefined || best[1] < FEWEST_SIGNALS || best[1] === next?.[1]) return { country: null, basis: null };
  return { country: best[0], basis: 'inferred' };
}

function countriesOf<T>(values: readonly T[], read: (value: T) => string | null): Set<string> {
  return new Set(values.map(read).filter((country) => country !== null));
}
