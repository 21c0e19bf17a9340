/** A range of `created_at`, both ends inclusive. */
export interface TimeRange {
  readonly oldest: number;
  readonly newest: number;
}
