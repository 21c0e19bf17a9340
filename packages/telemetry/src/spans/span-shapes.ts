import { TupleMap, type Tuple } from '../tuple-map.ts';
import type { SpanShape } from './ended-span.ts';

/** Shapes that are cached: a server span has one for each caller, route and status. */
const MAX_SHAPES = 4_096;

/** A cache of shapes, so that each is made, scrubbed and encoded once; beyond 4,096 a shape is made for each span. */
export class SpanShapes {
  readonly #shapes = new TupleMap<SpanShape>();

  /** `key`: everything that `make` uses. */
  of(key: Tuple, make: () => SpanShape): SpanShape {
    const known = this.#shapes.get(key);
    if (known !== undefined) return known;
    const shape = make();
    if (this.#shapes.size < MAX_SHAPES) this.#shapes.add(key, shape);
    return shape;
  }
}
