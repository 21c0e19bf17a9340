/** The token counts of one response, as defined by OpenAI: `input` includes `cacheRead` and `cacheWrite`, `output` includes `reasoning`. */
export interface TokenCounts {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** Tokens of the chat template. Never 0, so that the shortest prompt already has cached tokens to map. */
const TEMPLATE_TOKENS = 8;
const REASONING_TOKENS = 3;
/** Deeper than any message; a client's absurd nesting must not overflow the stack. */
const MAX_DEPTH = 8;

/** The counts for a prompt of `words` words and a response of `chunks` content chunks: a word or a chunk is a token. */
export function tokenCounts(words: number, chunks: number): TokenCounts {
  const input = TEMPLATE_TOKENS + words;
  const quarter = Math.floor(input / 4);
  return { input, cacheRead: quarter, cacheWrite: quarter, output: REASONING_TOKENS + chunks, reasoning: REASONING_TOKENS };
}

/** How many words the text in a prompt has: strings, lists of them, and everything under `content`, `text` or `input`. */
export function countWords(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.match(/\S+/g)?.length ?? 0;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 0;
  const parts: readonly unknown[] = Array.isArray(value)
    ? value
    : ['content', 'text', 'input'].map((key) => (value as Record<string, unknown>)[key]);
  return parts.reduce<number>((words, part) => words + countWords(part, depth + 1), 0);
}
