/** A range of `created_at`, both ends inclusive. */
export interface Stretch {
  readonly oldest: number;
  readonly newest: number;
}
