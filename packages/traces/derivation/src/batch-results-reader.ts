import { ASCII } from './character-codes.ts';
import { NO_FACTS, usageIn, type BodyFacts, type BodyFactsReader } from './body-facts.ts';
import { hostedTools } from './hosted-fees.ts';
import { JsonScanner } from './json-scanner.ts';
import { KeyPaths } from './key-paths.ts';
import { serviceNamedIn } from './service-class.ts';
import { mergedCounts, NO_TOKENS, type BatchUsage, type CallUsage, type NamedService, type TokenCounts } from './token-counts.ts';
import { readUsage } from './usage.ts';

const BODY = 'response.body';
const MESSAGE = 'result.message';
const PATHS = new KeyPaths([
  'custom_id',
  'response.status_code',
  'result.type',
  ...[BODY, MESSAGE].flatMap((prefix) => ['model', 'usage', 'service_tier', 'tool_usage'].map((name) => `${prefix}.${name}`)),
]);
/** More lines than a batch may have. Further ones are not compared with earlier ones. */
const MAX_LINES = 100_000;
/** More models, classes and sizes than one batch has. */
const MAX_GROUPS = 64;
/** Inputs from which models cost more, so that calls between two of them have one price. */
const SIZE_STEPS = [128_000, 200_000, 256_000, 271_999, 272_000];
/** Moderations are free. */
const FREE_MODEL = /moderation/;

/** Reads the lines of a batch's results. The lines of one batch may come from different models. Memory is bounded by `MAX_LINES` numbers. */
export class BatchResultsReader implements BodyFactsReader {
  readonly #scanner = new JsonScanner(PATHS);
  readonly #groups = new Map<string, CallUsage>();
  readonly #seen = new Set<string>();
  #model: string | undefined;
  #fees = 0;
  #isPartial = false;
  #hasText = false;
  #lineBytes = 0;

  push(chunk: Uint8Array): void {
    let start = 0;
    while (start < chunk.length) {
      const end = chunk.indexOf(ASCII.LF, start);
      const to = end < 0 ? chunk.length : end;
      this.#scanner.push(chunk, start, to);
      this.#lineBytes += to - start;
      this.#hasText ||= to > start;
      if (end < 0) return;
      this.#endLine();
      start = end + 1;
    }
  }

  end(): BodyFacts {
    this.#endLine();
    const batch: BatchUsage = { calls: [...this.#groups.values()], fees: this.#fees, isPartial: this.#isPartial };
    return { ...NO_FACTS, model: this.#model, ended: true, batch };
  }

  #endLine(): void {
    if (this.#hasText) this.#readLine();
    this.#scanner.reset();
    this.#hasText = false;
    this.#lineBytes = 0;
  }

  #readLine(): void {
    const scanner = this.#scanner;
    const status = scanner.value('response.status_code');
    const result = scanner.value('result.type');
    if (!scanner.closed) this.#isPartial = true;
    else if (result === 'succeeded') this.#add('anthropic', MESSAGE);
    else if (typeof status === 'number' && status < 400) this.#add('openai', BODY);
  }

  #add(provider: 'openai' | 'anthropic', prefix: string): void {
    const scanner = this.#scanner;
    const model = scanner.value(`${prefix}.model`);
    const name = typeof model === 'string' ? model.slice(0, 256) : 'unknown';
    this.#model ??= name;
    if (FREE_MODEL.test(name)) return;
    const details = {
      service_tier: scanner.value(`${prefix}.service_tier`),
      tool_usage: scanner.value(`${prefix}.tool_usage`),
    };
    const usage = usageIn(scanner, undefined, [`${prefix}.usage`]);
    const facts: BodyFacts = { ...NO_FACTS, isUsageFinal: true, model: name, usage, details };
    const read = readUsage(facts, { provider, medium: undefined, asksForHour: () => false });
    if (read === undefined || read === 'undecodable') {
      this.#isPartial = true;
      return this.#addCall(name, { ...this.#service(facts) }, unknownCall(this.#lineBytes));
    }
    const tools = hostedTools(provider, name, { request: undefined, response: facts }, false);
    this.#fees += tools.least;
    const isFirst = this.#isFirst(scanner.value('custom_id'));
    for (const call of [...read.calls, ...tools.calls])
      this.#addCall(
        call.model ?? name,
        this.#service(facts),
        isFirst ? call : { ...call, shown: NO_TOKENS, least: NO_TOKENS, isDoubtful: true },
      );
  }

  /** The same result twice is charged once; which of the two is not known. */
  #isFirst(id: unknown): boolean {
    const text = typeof id === 'string' ? id.slice(0, 64) : '';
    const isKnown = this.#seen.has(text);
    if (this.#seen.size < MAX_LINES && text !== '') this.#seen.add(text);
    return !isKnown;
  }

  /** Every line was served as a batch, whatever it says. */
  #service(facts: BodyFacts): NamedService {
    return { ...serviceNamedIn(facts), tier: 'batch' };
  }

  #addCall(model: string, service: NamedService, call: CallUsage): void {
    const inputOfOne = SIZE_STEPS.findLast((step) => call.most.input > step) ?? 0;
    const key = JSON.stringify([model, service, inputOfOne]);
    const group = this.#groups.get(key);
    if (group === undefined && this.#groups.size >= MAX_GROUPS) this.#isPartial = true;
    else
      this.#groups.set(
        key,
        group === undefined ? { ...call, model, service, inputOfOne: inputOfOne + 1 } : sumOfCalls(group, call),
      );
  }
}

function sumOfCalls(group: CallUsage, call: CallUsage): CallUsage {
  const sum = (name: 'shown' | 'least' | 'most'): TokenCounts =>
    mergedCounts(group[name], call[name], (one, other) => one + other);
  return {
    ...group,
    shown: sum('shown'),
    least: sum('least'),
    most: sum('most'),
    reasoning: group.reasoning + call.reasoning,
    isDoubtful: group.isDoubtful || call.isDoubtful,
  };
}

/** A call that reported nothing: at the most one token for each byte of its line, on both sides. */
function unknownCall(bytes: number): CallUsage {
  const most = { ...NO_TOKENS, input: bytes, output: bytes };
  return { shown: NO_TOKENS, reasoning: 0, least: NO_TOKENS, most, isDoubtful: true };
}
