/** Groups of characters that cost tokenizers about the same. */
export const SCRIPT = {
  LATIN: 0,
  MARK: 1,
  GREEK: 2,
  CYRILLIC: 3,
  CAUCASIAN: 4,
  HEBREW: 5,
  ARABIC: 6,
  INDIC: 7,
  PUNCTUATION: 8,
  SYMBOL: 9,
  KANA: 10,
  HAN: 11,
  HANGUL: 12,
  EMOJI: 13,
  RARE_2: 14,
  RARE_3: 15,
  RARE_4: 16,
} as const;
type Script = (typeof SCRIPT)[keyof typeof SCRIPT];
export const SCRIPT_COUNT = 17;

/** The code points up to which a script reaches from the one before, in blocks of 64. Han covers CJK unified ideographs; scripts in few tokenizers'
 *  vocabularies are rare, and cost about a token per byte of UTF-8. */
const ENDS: readonly (readonly [end: number, script: Script])[] = [
  [0x240, SCRIPT.LATIN],
  [0x380, SCRIPT.MARK],
  [0x400, SCRIPT.GREEK],
  [0x540, SCRIPT.CYRILLIC],
  [0x5c0, SCRIPT.CAUCASIAN],
  [0x600, SCRIPT.HEBREW],
  [0x700, SCRIPT.ARABIC],
  [0x740, SCRIPT.RARE_2],
  [0x780, SCRIPT.ARABIC],
  [0x800, SCRIPT.RARE_2],
  [0x900, SCRIPT.RARE_3],
  [0xe80, SCRIPT.INDIC],
  [0x1000, SCRIPT.RARE_3],
  [0x1080, SCRIPT.INDIC],
  [0x1100, SCRIPT.CAUCASIAN],
  [0x1780, SCRIPT.RARE_3],
  [0x1800, SCRIPT.INDIC],
  [0x1e00, SCRIPT.RARE_3],
  [0x1f00, SCRIPT.LATIN],
  [0x2000, SCRIPT.RARE_3],
  [0x2040, SCRIPT.PUNCTUATION],
  [0x2800, SCRIPT.SYMBOL],
  [0x2900, SCRIPT.RARE_3],
  [0x2e80, SCRIPT.SYMBOL],
  [0x3000, SCRIPT.RARE_3],
  [0x3100, SCRIPT.KANA],
  [0x3400, SCRIPT.SYMBOL],
  [0x4e00, SCRIPT.RARE_3],
  [0xa000, SCRIPT.HAN],
  [0xac00, SCRIPT.RARE_3],
  [0xd7c0, SCRIPT.HANGUL],
  [0xfe00, SCRIPT.RARE_3],
  [0xfe40, SCRIPT.PUNCTUATION],
  [0xff00, SCRIPT.RARE_3],
  [0x10000, SCRIPT.KANA],
];

const SCRIPTS = Uint8Array.from({ length: 0x10000 >> 6 }, (_, block) => ENDS.find(([end]) => block << 6 < end)![1]);

/** The script of a character, by its block of 64 code points. */
export function scriptOf(codePoint: number): number {
  if (codePoint < 0x10000) return SCRIPTS[codePoint >> 6]!;
  return codePoint >> 12 === 0x1f ? SCRIPT.EMOJI : SCRIPT.RARE_4;
}

/** The same by the first two bytes of its UTF-8. */
export function scriptOfBytes(lead: number, second: number): number {
  if (lead < 0xe0) return SCRIPTS[lead & 0x1f]!;
  if (lead < 0xf0) return SCRIPTS[((lead & 0x0f) << 6) | (second & 0x3f)]!;
  return lead === 0xf0 && second === 0x9f ? SCRIPT.EMOJI : SCRIPT.RARE_4;
}

/** Tokens per character in the order of `SCRIPT`: of `o200k_base`, and of tokenizers whose vocabularies are about English. For Latin they come on top
 *  of the letter itself. Measured with the Universal Declaration of Human Rights in 532 languages, and rounded up. */
export const O200K_SCRIPTS = [0.45, 1.8, 0.6, 0.5, 0.48, 0.65, 0.6, 0.75, 1, 2.4, 1.15, 1.3, 1.05, 3, 2, 2.9, 4];
export const OLDER_SCRIPTS = [1.2, 2, 1.3, 1.05, 2.25, 1.45, 1.3, 2.2, 1.4, 2.8, 1.6, 1.8, 1.65, 4, 2.1, 3, 4];
