import type { CostStatus, Provider } from '@vitrine/traces/trace';
import { PICO_PER_USD } from '@vitrine/traces/usd';
import type { HostedTools } from './hosted-fees.ts';
import type { ImagePieces } from './image-pieces.ts';
import { plainName, type PriceCatalogue } from './price-catalogue.ts';
import { costOf, NO_COST, sumOfCosts, totalOf, type CostParts } from './price-rates.ts';
import { serviceClassOf } from './service-class.ts';
import { NO_TOKENS, type CallUsage, type NamedService } from './token-counts.ts';

/** What an exchange is charged for. */
export interface Charge {
  readonly provider: Provider;
  /** The model that served. */
  readonly model: string;
  readonly calls: readonly CallUsage[];
  readonly service: NamedService;
  readonly tools: HostedTools;
  /** Of images that are charged by the piece instead of tokens. */
  readonly pieces: ImagePieces | undefined;
  /** Whether its usage is not completely known. */
  readonly isEstimate: boolean;
}

/** The cost of an exchange, from list prices, in US dollars to the trillionth: see `usd.ts`. */
export interface Cost {
  readonly status: Extract<CostStatus, 'priced' | 'estimated' | 'unpriced'>;
  /** What is known to be due. */
  readonly usd: number;
  readonly upper_usd: number;
  /** Of what is known to be due, in US dollars; without parts that are 0. */
  readonly breakdown: Partial<CostParts> | undefined;
  readonly price_source: string | undefined;
  readonly price_version: string | undefined;
}

interface Bounds {
  readonly least: CostParts;
  readonly most: CostParts;
  readonly isPriced: boolean;
  readonly isDoubtful: boolean;
}

/** Prices each call by its own model, class of service and size. Spec: G4.15, G4.16, G4.29, G11.25, G11.26. */
export function exchangeCost(charge: Charge, prices: PriceCatalogue, at: Date): Cost {
  const { tools, calls, pieces, isEstimate, provider, model } = charge;
  const bounds = [...calls, ...tools.calls].map((call) => boundsOf(call, charge, prices, at));
  const fees = {
    least: Math.round((tools.least + (pieces?.least ?? 0)) * PICO_PER_USD),
    most: Math.round((tools.most + (pieces?.most ?? 0)) * PICO_PER_USD),
  };
  const known = sumOfCosts(bounds.map(({ least }) => least));
  const upper = Math.round(totalOf(sumOfCosts(bounds.map(({ most }) => most)))) + fees.most;
  const rates = prices.rates(provider, model, at);
  if (pieces === undefined && !bounds.some(({ isPriced }) => isPriced)) {
    const none = { breakdown: undefined, price_source: undefined, price_version: undefined };
    return { status: 'unpriced', usd: 0, upper_usd: upper / PICO_PER_USD, ...none };
  }
  const pico = Math.round(totalOf(known)) + fees.least;
  const feesOf = pieces === undefined ? 'tools' : 'output';
  const isDoubtful = isEstimate || tools.isDoubtful || bounds.some((one) => one.isDoubtful || !one.isPriced);
  return {
    status: isDoubtful || upper !== pico ? 'estimated' : 'priced',
    usd: pico / PICO_PER_USD,
    upper_usd: Math.max(pico, upper) / PICO_PER_USD,
    breakdown: breakdownOf({ ...known, [feesOf]: known[feesOf] + fees.least }),
    price_source: pieces === undefined ? rates?.source : 'list',
    price_version: rates?.version ?? prices.version,
  };
}

function boundsOf(call: CallUsage, { provider, model, service }: Charge, prices: PriceCatalogue, at: Date): Bounds {
  const name = call.model ?? model;
  const own = prices.rates(provider, name, at);
  const rates = own ?? prices.standIn(provider, at);
  if (rates === undefined || provider === 'unknown') return { least: NO_COST, most: NO_COST, isPriced: false, isDoubtful: true };
  const { least, most, isDoubtful } = serviceClassOf(provider, plainName(name), call.service ?? service, call.most);
  const lacksTokens = !rates.hasTokens && call.most.input + call.most.output > 0;
  const lacksSeconds = rates.second === undefined && call.most.seconds > 0;
  // Anthropic's input excludes cache reads, so one without a price of its own is not known to cost what input costs.
  const lacksReads = provider === 'anthropic' && rates.cached === undefined && call.shown.cached > 0;
  const known = lacksReads ? { ...call.least, input: call.least.input - call.least.cached, cached: 0 } : call.least;
  const highest = lacksSeconds ? { ...call.most, ...tokensHeardIn(call.most.seconds) } : call.most;
  const cheapest = costOf(rates, known, call.reasoning, least, call.inputOfOne);
  const isExact = known === highest && least === most;
  return {
    least: own === undefined ? NO_COST : cheapest,
    most: isExact ? cheapest : costOf(rates, highest, 0, most, call.inputOfOne),
    isPriced: own !== undefined,
    isDoubtful: call.isDoubtful || isDoubtful || lacksTokens || lacksSeconds || lacksReads,
  };
}

/** More tokens than a second of audio becomes, and its transcript has. */
const TOKENS_A_SECOND = 25;

function tokensHeardIn(seconds: number): Pick<typeof NO_TOKENS, 'input' | 'audioIn' | 'output'> {
  const tokens = Math.ceil(seconds * TOKENS_A_SECOND);
  return { input: tokens, audioIn: tokens, output: tokens };
}

function breakdownOf(parts: CostParts): Partial<CostParts> {
  const due: Partial<Record<keyof CostParts, number>> = {};
  for (const name of Object.keys(parts) as (keyof CostParts)[])
    if (parts[name] > 0) due[name] = Math.round(parts[name]) / PICO_PER_USD;
  return due;
}
