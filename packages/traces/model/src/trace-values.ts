// The values of a trace's enumerated fields, separate from its schemas, because a worker thread that stores traces does not load zod.

/** Who ended the exchange, and how. Spec: G4.8. */
export const OUTCOMES = ['completed', 'client_closed', 'upstream_error', 'timeout', 'rejected'] as const;
/** Whether the token counts of a trace can be trusted. */
export const USAGE_STATUSES = ['reported', 'partial', 'estimated', 'missing', 'undecodable'] as const;
/** How to read `estimated_cost_usd`: 0 means "unknown" when `unpriced`, and is the price when `free`. */
export const COST_STATUSES = ['priced', 'estimated', 'unpriced', 'free', 'subscription'] as const;
/** Where the counts of a trace come from. */
export const USAGE_SOURCES = ['body', 'stream', 'estimate'] as const;
export type UsageSource = (typeof USAGE_SOURCES)[number];
/** The parts of a cost. `tools`: fees of hosted tools and of requests. */
export const COST_PARTS = ['input', 'cache_read', 'cache_write', 'output', 'reasoning', 'audio', 'tools'] as const;
/** The most batches on a page of a provider. */
export const BATCH_FILES_MAX = 100;
export const PROVIDERS = ['openai', 'anthropic', 'unknown'] as const;
/** The relation of an exchange to a background response. `created`: the store remembers it. `finished`: the exchange read it back with its usage,
 *  and the record is derived as if the usage counts here. */
export const BACKGROUND_ROLES = ['created', 'finished'] as const;
export type BackgroundRole = (typeof BACKGROUND_ROLES)[number];
