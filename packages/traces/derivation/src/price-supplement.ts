import type { Provider } from '@vitrine/traces/trace';

// Prices that the catalogue does not have, with their sources, as read on 2026-11-28. US dollars; models by the start of their name, the first match
// counts.

/** A multiple of the list price, as a fraction, because five thirds of a price is exact only so. */
export interface Factor {
  readonly times: number;
  readonly over: number;
}

export const ONE: Factor = { times: 1, over: 1 };
export const HALF: Factor = { times: 1, over: 2 };

/** OpenAI's priority tier, also called fast mode. It keeps the ratios of a model's list price.
 *  Source: https://openai.com/api-fast-mode/ */
export const PRIORITY: readonly { readonly match: RegExp; readonly factor: Factor; readonly coversLongContext?: true }[] = [
  { match: /^gpt-5\.6-(?:sol|terra|luna)/, factor: { times: 2, over: 1 }, coversLongContext: true },
  { match: /^gpt-5\.5(?!-pro)/, factor: { times: 5, over: 2 } },
  { match: /^gpt-5-mini/, factor: { times: 9, over: 5 } },
  { match: /^gpt-5(?:\.[124])?(?!-pro|-nano|-chat|\.)(?:-mini|-codex|-\d|$)/, factor: { times: 2, over: 1 } },
  { match: /^gpt-4\.1-nano/, factor: { times: 2, over: 1 } },
  { match: /^gpt-4\.1/, factor: { times: 7, over: 4 } },
  { match: /^gpt-4o-2024-05-13/, factor: { times: 7, over: 4 } },
  { match: /^gpt-4o-mini(?:-2024|$)/, factor: { times: 5, over: 3 } },
  { match: /^gpt-4o(?:-2024|$)/, factor: { times: 17, over: 10 } },
  { match: /^o3(?:-2025|$)/, factor: { times: 7, over: 4 } },
  { match: /^o4-mini(?:-2025|$)/, factor: { times: 20, over: 11 } },
];
/** From this input on a call has the price of long context. */
export const LONG_CONTEXT = 272_000;
/** The greatest factor of any tier or speed of this provider, for those that are not known. */
export const GREATEST_FACTOR: Factor = { times: 6, over: 1 };

/** Anthropic's fast mode. Source: https://platform.claude.com/docs/en/build-with-claude/fast-mode */
export const FAST_MODE: readonly { readonly match: RegExp; readonly factor: Factor }[] = [
  { match: /^claude-opus-(?:4-8|5)/, factor: { times: 2, over: 1 } },
  { match: /^claude-opus-4-[67]/, factor: { times: 6, over: 1 } },
];
/** Anthropic's inference in the United States. Source: https://platform.claude.com/docs/en/build-with-claude/data-residency */
export const GEO_FACTORS: Readonly<Record<string, Factor>> = {
  us: { times: 11, over: 10 },
  global: ONE,
  not_available: ONE,
};

/** Prices of models beside those of the catalogue. Sources: https://developers.openai.com/api/docs/models (audio previews) and
 *  https://developers.openai.com/api/docs/pricing (one search of the preview tool a request). */
export const MODEL_PRICES: readonly {
  readonly provider: Provider;
  readonly match: RegExp;
  readonly prices: Readonly<Record<string, number>>;
}[] = [
  { provider: 'openai', match: /^gpt-4o-audio-preview/, prices: { input_audio_mtok: 40, output_audio_mtok: 80 } },
  { provider: 'openai', match: /^gpt-4o-mini-audio-preview/, prices: { input_audio_mtok: 10, output_audio_mtok: 20 } },
  { provider: 'openai', match: /^gpt-4o(?:-mini)?-search-preview/, prices: { request: 0.025 } },
];

/** An image of DALL-E by size; `hd` for that quality. Source: https://developers.openai.com/api/docs/pricing as of 2025. */
export const IMAGE_PRICES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'dall-e-2': { '256x256': 0.016, '512x512': 0.018, '1024x1024': 0.02 },
  'dall-e-3': {
    '1024x1024': 0.04,
    '1024x1792': 0.08,
    '1792x1024': 0.08,
    '1024x1024 hd': 0.08,
    '1024x1792 hd': 0.12,
    '1792x1024 hd': 0.12,
  },
};

/** Fees of hosted tools. Source: https://developers.openai.com/api/docs/pricing and
 *  https://platform.claude.com/docs/en/about-claude/pricing */
export const FEES = {
  webSearch: 0.01,
  /** The preview tool with a model that does not reason. */
  previewWebSearch: 0.025,
  fileSearch: 0.0025,
  /** A session of 20 minutes by memory; charged by the minute, at least 5. */
  container: { '1g': 0.03, '4g': 0.12, '16g': 0.48, '64g': 1.92 },
} as const;
/** OpenAI's models that do not reason. */
export const NOT_REASONING = /^(?:gpt-4|gpt-3\.5|chatgpt-4o)/;

/** Output tokens of a generated image. Source: https://developers.openai.com/api/docs/guides/image-generation */
export const IMAGE_TOKENS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  low: { '1024x1024': 272, '1024x1536': 408, '1536x1024': 400 },
  medium: { '1024x1024': 1_056, '1024x1536': 1_584, '1536x1024': 1_568 },
  high: { '1024x1024': 4_160, '1024x1536': 6_240, '1536x1024': 6_208 },
};
export const MAX_IMAGE_TOKENS = 6_240;
