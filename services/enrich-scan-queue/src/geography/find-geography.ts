import type { ObservationFacts } from '@vitrine/stores/observation/observation-facts';

/** Currencies that one country alone uses. Those of several (EUR, USD, AUD, CHF, DKK, NOK, ...) say nothing. */
const BY_CURRENCY = pairsOf(
  `AED:AE ALL:AL AMD:AM ARS:AR AZN:AZ BDT:BD BGN:BG BHD:BH BOB:BO BRL:BR CAD:CA CLP:CL CNY:CN COP:CO CRC:CR CZK:CZ DOP:DO DZD:DZ EGP:EG
  ETB:ET GBP:GB GEL:GE GHS:GH GTQ:GT HKD:HK HUF:HU IDR:ID INR:IN ISK:IS JOD:JO JPY:JP KES:KE KRW:KR KWD:KW KZT:KZ LKR:LK MAD:MA MDL:MD
  MKD:MK MXN:MX MYR:MY NGN:NG NPR:NP OMR:OM PEN:PE PHP:PH PKR:PK PLN:PL PYG:PY QAR:QA RON:RO RSD:RS RUB:RU SAR:SA SEK:SE SGD:SG THB:TH
  TND:TN TRY:TR TWD:TW TZS:TZ UAH:UA UGX:UG UYU:UY UZS:UZ VND:VN`,
);

/** Prefixes of telephone numbers that belong to one country; +1 and +7 do not. The longest that fits counts. */
const BY_PHONE = pairsOf(
  `20:EG 27:ZA 30:GR 31:NL 32:BE 33:FR 34:ES 36:HU 39:IT 40:RO 41:CH 43:AT 44:GB 45:DK 46:SE 47:NO 48:PL 49:DE 51:PE 52:MX 54:AR 55:BR
  56:CL 57:CO 60:MY 61:AU 62:ID 63:PH 64:NZ 65:SG 66:TH 81:JP 82:KR 84:VN 86:CN 90:TR 91:IN 92:PK 94:LK 212:MA 213:DZ 216:TN 233:GH 234:NG
  254:KE 351:PT 352:LU 353:IE 354:IS 356:MT 357:CY 358:FI 359:BG 370:LT 371:LV 372:EE 373:MD 380:UA 381:RS 385:HR 386:SI 420:CZ 421:SK
  423:LI 506:CR 591:BO 595:PY 598:UY 852:HK 880:BD 886:TW 962:JO 965:KW 966:SA 968:OM 971:AE 972:IL 973:BH 974:QA 977:NP 995:GE`,
);

/** Top-level domains of countries that shops of all countries use. */
const GENERIC_TLDS = new Set([
  'ac', 'ai', 'am', 'cc', 'co', 'fm', 'gg', 'io', 'is', 'la', 'ly', 'me', 'sh', 'shop', 'so', 'st', 'to', 'tv', 'ws',
]); // prettier-ignore
/** Codes of registries and of ICU that are not countries of ISO 3166-1. */
const NO_COUNTRIES = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'XK', 'ZZ']);
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** `key:country key:country ...` */
function pairsOf(text: string): ReadonlyMap<string, string> {
  return new Map(text.split(/\s+/).map((pair): [string, string] => [pair.split(':', 1)[0] ?? '', pair.slice(-2)]));
}

/** A code of ISO 3166-1 alpha-2 in upper case; null for anything else. */
function countryCode(value: string | null | undefined): string | null {
  const code = value?.trim().toUpperCase() ?? '';
  return /^[A-Z]{2}$/.test(code) && !NO_COUNTRIES.has(code) && names.of(code) !== undefined ? code : null;
}

/** @param domain - canonical */
function countryOfDomain(domain: string): string | null {
  const tld = domain.slice(domain.lastIndexOf('.') + 1);
  return GENERIC_TLDS.has(tld) ? null : countryCode(tld === 'uk' ? 'gb' : tld);
}

const countryOfCurrency = (currency: string | null): string | null => BY_CURRENCY.get(currency ?? '') ?? null;

/** @param language - as in `lang` and `og:locale`: `de-DE`, `pt_BR`, `zh-Hant-TW` */
function countryOfLanguage(language: string): string | null {
  const region = /^[a-z]{2,3}(?:[-_][A-Za-z]{4})?[-_]([A-Za-z]{2})$/.exec(language.trim());
  return countryCode(region?.[1]);
}

/** @param phone - with the country's prefix: `+49 30 1234`, `0049 ...` */
function countryOfPhone(phone: string): string | null {
  const digits = /^\s*(?:\+|00)([\d\s().-]{7,})$/.exec(phone)?.[1]?.replaceAll(/\D/g, '') ?? '';
  for (const length of [3, 2]) {
    const country = BY_PHONE.get(digits.slice(0, length));
    if (country !== undefined) return country;
  }
  return null;
}

/** @param id - a VAT number, which begins with the country: `DE123456789`, `EL...` in Greece */
function countryOfVatId(id: string): string | null {
  const prefix = /^\s*([A-Za-z]{2})[\s-]?[0-9A-Za-z]{7,12}\s*$/.exec(id)?.[1]?.toUpperCase();
  return countryCode(prefix === 'EL' ? 'GR' : prefix);
}

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

/** `observed` from settings, else from addresses that agree; `inferred` if two kinds of weak signals agree and no other country has as many. */
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
