/** What a row of `rollups` sums up: the traces of an hour or a day, by model or by scope, model and credential. */
export const LEVELS = { modelHour: 0, modelDay: 1, keyHour: 2, keyDay: 3 } as const;
export type Level = (typeof LEVELS)[keyof typeof LEVELS];

/** Stands for all tenants together in roll-ups by model. */
export const ALL_TENANTS = 0;
