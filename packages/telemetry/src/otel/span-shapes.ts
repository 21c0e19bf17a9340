import type { SpanShape } from './ended-span.ts';

/** Shapes that are remembered; of a gateway they are as many as its keys times the statuses that they saw. */
const MAX_SHAPES = 4_096;

/** Shapes by what tells them apart, so that they are made, scrubbed and encoded once; beyond 4,096 they are made anew each time. */
export class SpanShapes {
  readonly #shapes = new Map<string, SpanShape>();

  /** `key`: all that `make` makes it of. */
  of(key: string, make: () => SpanShape): SpanShape {
    const known = this.#shapes.get(key);
    if (known !== undefined) return known;
    const shape = make();
    if (this.#shapes.size < MAX_SHAPES) this.#shapes.set(key, shape);
    return shape;
  }
}
