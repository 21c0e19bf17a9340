/** The kind of a body by its content type; undefined: any other. */
export const BODY_KINDS = [undefined, 'json', 'sse'] as const;
export type BodyKind = (typeof BODY_KINDS)[number];
