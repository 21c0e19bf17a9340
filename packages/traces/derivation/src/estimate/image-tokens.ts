import { isClaude, isEarlyClaude } from './tokenizers.ts';

/** The size of an image that is not known: a photograph of 12 megapixels. Every family but the last scales that down to its most tokens. */
const UNKNOWN_WIDTH = 4_032;
const UNKNOWN_HEIGHT = 3_024;
/** An image's place in the text. */
const FRAME_TOKENS = 5;

type Formula = (width: number, height: number) => number;

/** How families of models count images: developers.openai.com/api/docs/guides/images-vision and platform.claude.com/docs/en/build-with-claude/vision,
 *  September 2026. `detail` is not read: `high` or `original` are counted. */
const FORMULAS = {
  claude: (width, height) => Math.min(4_784, patches(width, height, 28)),
  /** Until 2026 documented as `width * height / 750`, at most about 1,600. */
  earlyClaude: (width, height) => Math.min(1_600, Math.max(patches(width, height, 28), (width * height) / 750)),
  /** `gpt-4o`, `gpt-4.1` and `gpt-4.5`; with smaller factors `gpt-5`, `o1` and `o3`. */
  tiles: (width, height) => 85 + 170 * tiles(width, height),
  gpt4oMini: (width, height) => 2_833 + 5_667 * tiles(width, height),
  /** 2,048 pixels, times 1.62, or 1.72 for `o4-mini`. */
  mini: (width, height) => 1.72 * Math.min(4_096, patches(width, height, 32)),
  nano: (width, height) => 2.46 * Math.min(4_096, patches(width, height, 32)),
  /** `gpt-5.2` and later. Images of more patches are rejected, or scaled down to fewer. */
  patches: (width, height) => 1.2 * Math.min(30_000, patches(width, height, 32)),
} satisfies Record<string, Formula>;
type Family = keyof typeof FORMULAS;
const FAMILIES = Object.keys(FORMULAS) as readonly Family[];

/** Sums up the tokens of images for every family, because the model may be known only later. */
export class ImageTokens {
  readonly #tokens = new Map<Family, number>();

  add(width = UNKNOWN_WIDTH, height = UNKNOWN_HEIGHT): void {
    for (const family of FAMILIES) {
      this.#tokens.set(family, this.#of(family) + Math.ceil(FORMULAS[family](width, height)) + FRAME_TOKENS);
    }
  }

  tokens(model: string): number {
    return Math.max(...familiesOf(model).map((family) => this.#of(family)));
  }

  #of(family: Family): number {
    return this.#tokens.get(family) ?? 0;
  }
}

function familiesOf(model: string): readonly Family[] {
  if (isClaude(model)) return [isEarlyClaude(model) ? 'earlyClaude' : 'claude'];
  if (/4o-mini/i.test(model)) return ['gpt4oMini'];
  if (/nano/i.test(model)) return ['nano'];
  if (/mini/i.test(model)) return ['mini'];
  if (/gpt-4|(?:^|[^a-z])o\d|gpt-5(?!\.[2-9])/i.test(model)) return ['tiles'];
  return /gpt-[5-9]|codex/i.test(model) ? ['patches'] : ['tiles', 'nano', 'patches'];
}

/** Squares that cover the image. */
function patches(width: number, height: number, side: number): number {
  return Math.ceil(width / side) * Math.ceil(height / side);
}

/** Squares of 512 pixels that cover the image after it was made to fit into 2,048 pixels, and its shorter side into 768. */
function tiles(width: number, height: number): number {
  const scale = Math.min(1, 2_048 / Math.max(width, height), 768 / Math.min(width, height));
  return patches(width * scale, height * scale, 512);
}
