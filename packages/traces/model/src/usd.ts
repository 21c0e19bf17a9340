// Money is counted in whole trillionths of a US dollar (1e-12), because sums of doubles are inexact: at 0.15 per million tokens, 41
// tokens cost 0.0000061499999999999996. A trillionth is 1e-6 of a token's cost at one dollar per million. A price is the double nearest
// to a whole number of trillionths, and doubles distinguish these up to 8,192 dollars. Sums go further and use two numbers: thousands of
// dollars, and trillionths below a thousand. Both are whole numbers and so stay exact.

/** Trillionths in a dollar, and in a thousand of them. */
export const PICO_PER_USD = 1e12;
export const PICO_PER_THOUSAND = 1e15;
/** Below this amount, adjacent doubles are less than a trillionth apart. */
export const EXACT_BELOW_USD = 8_192;

const DECIMALS = 12;

/** An unbounded amount: see above. */
export interface UsdParts {
  readonly thousands: number;
  /** From 0 to 1e15, without it. */
  readonly pico: number;
}

/** The whole thousands of a non-negative amount. */
export function thousandsIn(usd: number): number {
  if (usd < 1_000) return 0;
  const thousands = Math.floor(usd / 1_000);
  return thousands * 1_000 > usd ? thousands - 1 : thousands;
}

/** The trillionths beside these thousands, rounded: at most 1e15 beside all of them (`thousandsIn`), which a sum carries over. */
export function picoIn(usd: number, thousands: number): number {
  // The part below a dollar is separate, because the rounding of its product is negligible and the difference is exact.
  const dollars = Math.floor(usd);
  return (dollars - thousands * 1_000) * PICO_PER_USD + Math.round((usd - dollars) * PICO_PER_USD);
}

/** The thousands and the trillionths of a non-negative amount. */
export function usdPartsOf(usd: number): UsdParts {
  const thousands = thousandsIn(usd);
  return { thousands, pico: picoIn(usd, thousands) };
}

/** The double next to an amount. */
export function usdOf(thousands: number, pico: number): number {
  const all = thousands * PICO_PER_THOUSAND + pico;
  return all < EXACT_BELOW_USD * PICO_PER_USD ? all / PICO_PER_USD : Number(usdText(thousands, pico));
}

/** An amount with all of its digits. */
export function usdText(thousands: number, pico: number): string {
  const dollars = BigInt(thousands) * 1_000n + BigInt(Math.floor(pico / PICO_PER_USD));
  const rest = String(pico % PICO_PER_USD).padStart(DECIMALS, '0');
  return `${dollars}.${rest}`.replace(/\.?(?<!0)0+$/, '');
}

/** Parses non-negative digits with at most twelve decimals, as printed by `usdText`. */
export function usdPartsIn(text: string): UsdParts {
  const [dollars = '', decimals = ''] = text.split('.');
  return { thousands: Number(dollars.slice(0, -3)), pico: Number(dollars.slice(-3) + decimals.padEnd(DECIMALS, '0')) };
}

/** The double next to an amount's next trillionth: 0.0000061499999999999996 becomes 0.00000615. From 8,192 dollars on it is unchanged. */
export function roundUsd(usd: number): number {
  return Math.abs(usd) >= EXACT_BELOW_USD ? usd : picoIn(usd, 0) / PICO_PER_USD;
}

/** A sum of non-negative amounts, exact to the trillionth for any number of them. */
export class UsdSum implements UsdParts {
  thousands = 0;
  pico = 0;

  get usd(): number {
    return usdOf(this.thousands, this.pico);
  }

  add(usd: number): void {
    const thousands = thousandsIn(usd);
    this.addParts(thousands, picoIn(usd, thousands));
  }

  addParts(thousands: number, pico: number): void {
    this.thousands += thousands;
    this.pico += pico;
    if (this.pico < PICO_PER_THOUSAND) return;
    this.pico -= PICO_PER_THOUSAND;
    this.thousands += 1;
  }
}

/** TypeScript has no type for it yet. It returns an object that JSON prints as the number in the text. */
const rawJson = JSON as typeof JSON & { rawJSON(text: string): number };

/** The JSON form of an amount: a number, or the exact digits if no double can represent it. */
export function usdJson({ thousands, pico }: UsdParts): number {
  const usd = usdOf(thousands, pico);
  return usd < EXACT_BELOW_USD ? usd : rawJson.rawJSON(usdText(thousands, pico));
}
