import { O200K_SCRIPTS, OLDER_SCRIPTS } from './scripts.ts';

/** How many tokens a tokenizer makes of the same text. */
export interface Tokenizer {
  /** Tokens of Latin text, digits and punctuation for one of `TextTokens`. */
  readonly latin: number;
  /** Tokens per character of other scripts. */
  readonly scripts: readonly number[];
}

const O200K: Tokenizer = { latin: 1.08, scripts: O200K_SCRIPTS };
/** Also of models that are not known: it makes more tokens of everything than `o200k_base`. */
const CL100K: Tokenizer = { latin: 1.2, scripts: OLDER_SCRIPTS };
/** Not public. Published comparisons have 1.1 to 1.3 times the tokens of `o200k_base` for English and code, and about those of `cl100k_base` for
 *  other scripts. */
const CLAUDE: Tokenizer = { latin: 1.08 * 1.35, scripts: OLDER_SCRIPTS };
/** Since Opus 4.7 "up to 35 % more tokens for the same fixed text" (Anthropic's pricing page), measured as 1.13 to 1.47 for Latin and 1 for other
 *  scripts. */
const CLAUDE_SINCE_4_7: Tokenizer = { latin: 1.08 * 1.35 * 1.2, scripts: OLDER_SCRIPTS };

/** Claude up to 4.6: `claude-3-5-haiku`, `claude-opus-4-20250514`, `claude-4.6-sonnet`. Others are later. */
const EARLY_CLAUDE = /claude-(?:v\d|instant|(?:(?:opus|sonnet|haiku)-)?(?:[1-3](?!\d)|4(?![.-][7-9](?!\d))))/i;
const O200K_MODELS = /(?:^|[^a-z])(?:o\d|gpt-4[.o]|gpt-4-o|gpt-[5-9]|gpt-oss|chatgpt|codex|computer-use)/i;

export function isClaude(model: string): boolean {
  return /claude/i.test(model);
}

export function isEarlyClaude(model: string): boolean {
  return EARLY_CLAUDE.test(model);
}

export function tokenizerOf(model: string): Tokenizer {
  if (isClaude(model)) return isEarlyClaude(model) ? CLAUDE : CLAUDE_SINCE_4_7;
  return O200K_MODELS.test(model) ? O200K : CL100K;
}
