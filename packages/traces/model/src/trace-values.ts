// The values of a trace's enumerated fields, apart from its shapes: a worker thread that stores traces does not load zod.

/** Who ended the exchange, and how. Spec: G4.8. */
export const OUTCOMES = ['completed', 'client_closed', 'upstream_error', 'timeout', 'rejected'] as const;
/** Whether the token counts of a trace can be trusted. */
export const USAGE_STATUSES = ['reported', 'partial', 'missing', 'undecodable'] as const;
/** Whether `estimated_cost_usd` means something: 0 when `unpriced` is "not known", when `free` it is the price. */
export const COST_STATUSES = ['priced', 'unpriced', 'free'] as const;
export const PROVIDERS = ['openai', 'anthropic', 'unknown'] as const;
/** What an exchange did with a response in the background. `created`: the store remembers it. `finished`: the exchange read it back with its
 *  usage, and the record is written as if that counts here. */
export const BACKGROUND_ROLES = ['created', 'finished'] as const;
export type BackgroundRole = (typeof BACKGROUND_ROLES)[number];
