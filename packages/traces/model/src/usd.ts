// Money is counted in whole trillionths of a US dollar (1e-12), because sums of doubles are not: a price of 0.15 a million tokens made
// 0.0000061499999999999996 of 41 tokens. A trillionth is 1e-6 of what a token costs where a million of them cost a dollar.
//
// A price is a double next to a whole number of trillionths; doubles distinguish these up to 8,192 dollars. Sums go further, and
// take two numbers: thousands of dollars, and trillionths below a thousand. Both are whole, and so they stay exact.

/** Trillionths in a dollar, and in a thousand of them. */
export const PICO_PER_USD = 1e12;
export const PICO_PER_THOUSAND = 1e15;
/** Below this, doubles that are next to each other are less than a trillionth apart. */
export const EXACT_BELOW_USD = 8_192;

const DECIMALS = 12;

/** An amount that has no bound: see above. */
export interface UsdParts {
  readonly thousands: number;
  /** From 0 to 1e15, without it. */
  readonly pico: number;
}

/** The whole thousands in an amount that is not negative. */
export function thousandsIn(usd: number): number {
  if (usd < 1_000) return 0;
  const thousands = Math.floor(usd / 1_000);
  return thousands * 1_000 > usd ? thousands - 1 : thousands;
}

/** The trillionths beside them, rounded: 1e15 at most, which a sum carries over. */
export function picoIn(usd: number, thousands: number): number {
  // What is below a dollar apart: its product is rounded by next to nothing, and the difference is exact.
  const dollars = Math.floor(usd);
  return (dollars - thousands * 1_000) * PICO_PER_USD + Math.round((usd - dollars) * PICO_PER_USD);
}

/** The double next to an amount. */
export function usdOf(thousands: number, pico: number): number {
  const all = thousands * PICO_PER_THOUSAND + pico;
  return all < EXACT_BELOW_USD * PICO_PER_USD ? all / PICO_PER_USD : Number(usdText(thousands, pico));
}

/** An amount in digits, all of them. */
export function usdText(thousands: number, pico: number): string {
  const dollars = BigInt(thousands) * 1_000n + BigInt(Math.floor(pico / PICO_PER_USD));
  const rest = String(pico % PICO_PER_USD).padStart(DECIMALS, '0');
  return `${dollars}.${rest}`.replace(/\.?(?<!0)0+$/, '');
}

/** The amount that not negative digits with at most twelve decimals are, as `usdText` makes them. */
export function usdPartsIn(text: string): UsdParts {
  const [dollars = '', decimals = ''] = text.split('.');
  return { thousands: Number(dollars.slice(0, -3)), pico: Number(dollars.slice(-3) + decimals.padEnd(DECIMALS, '0')) };
}

/** The double next to an amount's next trillionth: 0.0000061499999999999996 becomes 0.00000615. From 8,192 dollars on it is what it was. */
export function roundUsd(usd: number): number {
  if (Math.abs(usd) >= EXACT_BELOW_USD) return usd;
  const dollars = Math.floor(usd);
  return (dollars * PICO_PER_USD + Math.round((usd - dollars) * PICO_PER_USD)) / PICO_PER_USD;
}

/** A sum of amounts that are not negative, exact to the trillionth however many they are. */
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

/** TypeScript does not know it yet. It returns an object that JSON prints as the number that the text is. */
const rawJson = JSON as typeof JSON & { rawJSON(text: string): number };

/** What JSON prints of an amount: the number, and of one that no double holds the digits themselves. */
export function usdJson({ thousands, pico }: UsdParts): number {
  const usd = usdOf(thousands, pico);
  return usd < EXACT_BELOW_USD ? usd : rawJson.rawJSON(usdText(thousands, pico));
}
