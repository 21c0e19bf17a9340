import { audioSeconds } from './audio-seconds.ts';
import type { HeaderWalk } from './header-walker.ts';
import { imageSize } from './image-size.ts';

/** Facts of a media file. Each is absent if its header does not tell it. */
export interface MediaFacts {
  /** Length of audio. */
  readonly seconds?: number;
  /** Pixels of an image. */
  readonly width?: number;
  readonly height?: number;
}

/** Reads the facts of an image or of audio, recognised by its first bytes. */
export function* mediaFacts(): HeaderWalk<MediaFacts> {
  return (yield* imageSize()) ?? (yield* audioSeconds());
}
