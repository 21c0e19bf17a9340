/** What a body's content type makes of it; undefined: anything else. */
export const BODY_KINDS = [undefined, 'json', 'sse'] as const;
export type BodyKind = (typeof BODY_KINDS)[number];
