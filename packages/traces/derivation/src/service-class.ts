import type { BodyFacts } from './body-facts.ts';
import { FAST_MODE, GEO_FACTORS, GREATEST_FACTOR, HALF, LONG_CONTEXT, ONE, PRIORITY, type Factor } from './price-supplement.ts';
import type { NamedService, TokenCounts } from './token-counts.ts';
import type { Fields } from './usage-report.ts';

/** What the tokens of a call cost beside the list price: between two multiples, which are the same for a known class of service. */
interface ServiceClass {
  readonly least: Factor;
  readonly most: Factor;
  /** Whether it is not understood. */
  readonly isDoubtful: boolean;
}

const STANDARD: ServiceClass = { least: ONE, most: ONE, isDoubtful: false };
const BATCH: ServiceClass = { least: HALF, most: HALF, isDoubtful: false };
/** Capacity that is paid in advance: at most the list price is due. */
const PREPAID: ServiceClass = { least: { times: 0, over: 1 }, most: ONE, isDoubtful: true };
const UNKNOWN: ServiceClass = { least: ONE, most: GREATEST_FACTOR, isDoubtful: true };

/** OpenAI names the tier in the response, Anthropic in its usage. */
export function serviceNamedIn({ details, usage }: BodyFacts): NamedService {
  const fields: Fields = usage?.fields ?? {};
  return {
    tier: details['service_tier'] ?? fields['service_tier'],
    speed: fields['speed'],
    place: fields['inference_geo'],
  };
}

export function serviceClassOf(
  provider: 'openai' | 'anthropic',
  model: string,
  { tier, speed, place }: NamedService,
  counts: TokenCounts,
): ServiceClass {
  if (provider === 'openai') return openAiClass(model, tier, counts);
  return [anthropicTier(tier), speedOf(model, speed), placeOf(place)].reduce(both);
}

function openAiClass(model: string, tier: unknown, { input }: TokenCounts): ServiceClass {
  switch (tier) {
    case undefined:
    case null:
    case 'default':
    case 'standard':
      return STANDARD;
    case 'flex':
    case 'batch':
      return BATCH;
    case 'scale':
      return PREPAID;
    case 'priority':
    case 'fast': {
      const listed = PRIORITY.find(({ match }) => match.test(model));
      if (listed === undefined || (input >= LONG_CONTEXT && listed.coversLongContext !== true)) return UNKNOWN;
      return exactly(listed.factor);
    }
    default:
      return UNKNOWN;
  }
}

function anthropicTier(tier: unknown): ServiceClass {
  if (tier === undefined || tier === null || tier === 'standard') return STANDARD;
  if (tier === 'batch') return BATCH;
  return tier === 'priority' ? PREPAID : UNKNOWN;
}

function speedOf(model: string, speed: unknown): ServiceClass {
  if (speed === undefined || speed === null || speed === 'standard') return STANDARD;
  const listed = speed === 'fast' ? FAST_MODE.find(({ match }) => match.test(model)) : undefined;
  return listed === undefined ? UNKNOWN : exactly(listed.factor);
}

function placeOf(place: unknown): ServiceClass {
  if (place === undefined || place === null || place === '') return STANDARD;
  const factor = typeof place === 'string' && Object.hasOwn(GEO_FACTORS, place) ? GEO_FACTORS[place] : undefined;
  return factor === undefined ? UNKNOWN : exactly(factor);
}

function exactly(factor: Factor): ServiceClass {
  return { least: factor, most: factor, isDoubtful: false };
}

function both(left: ServiceClass, right: ServiceClass): ServiceClass {
  return {
    least: product(left.least, right.least),
    most: product(left.most, right.most),
    isDoubtful: left.isDoubtful || right.isDoubtful,
  };
}

function product(left: Factor, right: Factor): Factor {
  return { times: left.times * right.times, over: left.over * right.over };
}
