import type { HeldBodyRules } from '@vitrine/http-api/requests/hold-body';
import type { Rejection } from '@vitrine/http-api/rejection';
import { contentCodingOf } from '@vitrine/privacy/bodies/body-kind';
import type { PriceCatalogue } from '@vitrine/trace-derivation/price-catalogue';
import type { Provider } from '@vitrine/traces/trace';
import type { IncomingHttpHeaders } from 'node:http';
import { callFacts } from './call-facts.ts';
import { unknownCostRejection } from './limit-rejections.ts';

/** The longest body that providers accept is one with images: 32 MB. */
const MAX_BYTES = 32 * 1_048_576;

/** Streams of these report usage only if the request asks for it. */
const COMPLETIONS = /\/completions\/?$/i;
/** Azure. */
const DEPLOYMENT = /\/deployments\/([^/?]+)\//;

const MAX_MODEL_LENGTH = 256;
const NOTHING = Buffer.alloc(0);

interface ModelCall {
  readonly provider: Provider;
  /** As the client sent it. */
  readonly path: string;
  readonly contentType: string | undefined;
  readonly body: Buffer | undefined;
}

/** Rejects requests whose cost would be unknown: `limits.unknown: refuse`. Spec: G10.19 to G10.21. */
export class CostCheck implements HeldBodyRules {
  readonly maxBytes: number = MAX_BYTES;
  readonly tooLarge: Rejection = unreadable('its body is longer than 32 MiB');
  readonly full: Rejection = { status: 503, error: 'too many request bodies are being read', reason: 'cost_check_full' };
  readonly #prices: Pick<PriceCatalogue, 'rates'>;
  readonly #clock: () => number;

  /** `clock`: milliseconds since the epoch. */
  constructor(prices: Pick<PriceCatalogue, 'rates'>, clock: () => number) {
    this.#prices = prices;
    this.#clock = clock;
  }

  unreadable(headers: IncomingHttpHeaders): Rejection | undefined {
    const coding = contentCodingOf(headers['content-encoding']);
    if (coding !== '') return unreadable(`its body has the content coding ${coding}`);
    return Number(headers['content-length'] ?? 0) > MAX_BYTES ? this.tooLarge : undefined;
  }

  /** Undefined when the cost will be known. */
  rejection({ provider, path, contentType, body = NOTHING }: ModelCall): Rejection | undefined {
    const facts = callFacts(contentType, body);
    if (facts === undefined) return unreadable('its body is neither JSON nor a complete form');
    const model = facts.model ?? DEPLOYMENT.exec(path)?.[1];
    if (typeof model !== 'string' || model.length > MAX_MODEL_LENGTH) return unreadable('its body has no valid "model"');
    if (this.#prices.rates(provider, model, new Date(this.#clock())) === undefined)
      return unknownCostRejection(
        'the model has no price; use another, or add its price to the file of prices.override_path',
        model,
      );
    if (facts.isStream && !facts.asksForUsage && COMPLETIONS.test(pathOf(path)))
      return unknownCostRejection('the stream reports no usage; set stream_options.include_usage to true', model);
    return undefined;
  }
}

function unreadable(because: string): Rejection {
  return unknownCostRejection(`the model cannot be read, because ${because}; send uncompressed JSON, or a form, with "model"`);
}

/** Without the query, and decoded as a provider may decode it. */
function pathOf(path: string): string {
  const [plain = ''] = path.split('?', 1);
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
