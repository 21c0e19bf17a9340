/** Links of the home page, chosen by class, as paths or URLs; the best ones first. */
export interface PageLinks {
  readonly product: readonly string[];
  readonly collection: readonly string[];
  readonly cart: readonly string[];
}
