// The values of a trace's enumerated fields, apart from its shapes: a worker thread that stores traces does not load zod.

/** Who ended the exchange, and how. Spec: G4.8. */
export const OUTCOMES = ['completed', 'client_closed', 'upstream_error', 'timeout', 'rejected'] as const;
/** Whether the token counts of a trace can be trusted. */
export const USAGE_STATUSES = ['reported', 'partial', 'missing', 'undecodable'] as const;
/** Whether `estimated_cost_usd` means something: 0 when `unpriced` is "not known", when `free` it is the price. */
export const COST_STATUSES = ['priced', 'unpriced', 'free'] as const;
export const PROVIDERS = ['openai', 'anthropic', 'unknown'] as const;
