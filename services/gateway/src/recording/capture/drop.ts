import type { WriteFailure } from '@vitrine/traces/write-result';

/** Traces that were dropped: the queue was full, or the store did not take them. */
export type Drop = { readonly where: 'enqueue'; readonly count: number } | ({ readonly where: 'write' } & WriteFailure);
