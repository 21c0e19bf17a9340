import type { BodyEnding, CapturedBody } from './captured-exchange.ts';
import { decodeFar } from './decode.ts';
import { joinChunks } from './join-chunks.ts';

/** A decoded body is read no further than this: only a compression bomb has more in so few compressed bytes. */
const DECODED_MAX_BYTES = 16 * 1_048_576;

/** One direction's body, joined and decoded at most once, and only when somebody asks. */
export interface OpenBody {
  /** What a tap read of a body that was not kept whole. */
  readonly facts: CapturedBody['facts'];
  readonly kind: CapturedBody['kind'];
  readonly part: CapturedBody['part'];
  readonly bytes: number;
  /** Whether the captured bytes are all that passed. */
  readonly whole: boolean;
  /** See `CapturedBody`. */
  readonly ending?: BodyEnding;
  /** Whether `decoded` gives only the beginning of what its content coding promised: known once that was asked for. */
  readonly endsEarly?: () => boolean;
  readonly raw: () => Buffer;
  /** Undefined when its content coding is unknown or broken. One that merely ends early is decoded as far as it goes. */
  readonly decoded: () => Buffer | undefined;
}

export function openBody(body: CapturedBody): OpenBody {
  let raw: Buffer | undefined;
  let unpacked: { found: ReturnType<typeof decodeFar> } | undefined;
  const held = body.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const whole = held === body.bytes;
  const join = () => (raw ??= joinChunks(body.chunks));
  return {
    kind: body.kind,
    part: body.part,
    bytes: body.bytes,
    whole,
    ending: body.ending,
    endsEarly: () => unpacked?.found?.endsEarly === true,
    facts: body.facts,
    raw: join,
    decoded: () => {
      if (body.coding === '' || body.coding === 'identity') return join();
      const complete = whole && body.ending !== 'cut';
      unpacked ??= { found: decodeFar(body.coding, join(), { maxBytes: DECODED_MAX_BYTES, complete }) };
      return unpacked.found?.decoded;
    },
  };
}
