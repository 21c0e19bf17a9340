/** The class of service that a response names, as it names it. */
export interface NamedService {
  readonly tier: unknown;
  readonly speed: unknown;
  readonly place: unknown;
}

/** Tokens of one call of a model, by what they cost. The counts below input and output are parts of these. */
export interface TokenCounts {
  /** Including cache reads and cache writes, for every provider. */
  readonly input: number;
  /** Including reasoning. */
  readonly output: number;
  readonly cached: number;
  /** All writes, including those kept for an hour. */
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly audioIn: number;
  /** A part of the cached and of the audio tokens. */
  readonly cachedAudio: number;
  readonly imageIn: number;
  readonly audioOut: number;
  readonly imageOut: number;
  /** Seconds of audio, where they are charged instead of tokens. */
  readonly seconds: number;
}

export const NO_TOKENS: TokenCounts = {
  input: 0,
  output: 0,
  cached: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  audioIn: 0,
  cachedAudio: 0,
  imageIn: 0,
  audioOut: 0,
  imageOut: 0,
  seconds: 0,
};

/** What one call of a model counted. Where a report can be read in two ways, `least` and `most` are the cheapest and the dearest; else they are
 *  the same. */
export interface CallUsage {
  /** The model that was called, if it is not the one that the response names. */
  readonly model?: string | undefined;
  /** The class of service, if it is not that of the response. */
  readonly service?: NamedService | undefined;
  /** Input of a single call, by which its price may depend on its size, if this is the sum of several. */
  readonly inputOfOne?: number | undefined;
  /** As reported. */
  readonly shown: TokenCounts;
  readonly reasoning: number;
  readonly least: TokenCounts;
  readonly most: TokenCounts;
  /** Whether something in the report was not understood or contradicts itself. */
  readonly isDoubtful: boolean;
}

export function mergedCounts(left: TokenCounts, right: TokenCounts, merge: (one: number, other: number) => number): TokenCounts {
  return {
    input: merge(left.input, right.input),
    output: merge(left.output, right.output),
    cached: merge(left.cached, right.cached),
    cacheWrite: merge(left.cacheWrite, right.cacheWrite),
    cacheWrite1h: merge(left.cacheWrite1h, right.cacheWrite1h),
    audioIn: merge(left.audioIn, right.audioIn),
    cachedAudio: merge(left.cachedAudio, right.cachedAudio),
    imageIn: merge(left.imageIn, right.imageIn),
    audioOut: merge(left.audioOut, right.audioOut),
    imageOut: merge(left.imageOut, right.imageOut),
    seconds: merge(left.seconds, right.seconds),
  };
}

export function sumOf(calls: readonly CallUsage[], of: (call: CallUsage) => TokenCounts): TokenCounts {
  const [only, ...more] = calls;
  if (only !== undefined && more.length === 0) return of(only);
  return calls.reduce((sum, call) => mergedCounts(sum, of(call), (one, other) => one + other), NO_TOKENS);
}

/** What the results of a batch are charged for. */
export interface BatchUsage {
  /** The calls, summed by model, class of service and size. */
  readonly calls: readonly CallUsage[];
  /** Fees of hosted tools, in US dollars. */
  readonly fees: number;
  /** Whether a line could not be read, or has no usage. */
  readonly isPartial: boolean;
}
