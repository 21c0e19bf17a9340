/** A way to buy a product. */
export interface Offer {
  readonly price: number | null;
  readonly isAvailable: boolean | null;
}

/** The lowest price of those that can be bought, else of all; free and negative prices are none. */
export function lowestPrice(offers: readonly Offer[]): number | null {
  const priced = offers.filter(({ price }) => price !== null && price > 0);
  const buyable = priced.filter(({ isAvailable }) => isAvailable === true);
  const prices = (buyable.length > 0 ? buyable : priced).map(({ price }) => price ?? Infinity);
  return prices.length === 0 ? null : Math.min(...prices);
}

/** Whether any offer can be bought; null when one does not say and none can. */
export function anyAvailable(offers: readonly Offer[]): boolean | null {
  if (offers.some(({ isAvailable }) => isAvailable === true)) return true;
  return offers.length === 0 || offers.some(({ isAvailable }) => isAvailable === null) ? null : false;
}
