import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import type { CapturedBody, CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import { deriveTrace } from '@vitrine/trace-derivation/derive-trace';
import { openPriceCatalogue } from '@vitrine/trace-derivation/price-catalogue';
import { createTraceIds } from '@vitrine/traces/trace-id';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { randomBytes } from 'node:crypto';
import { NO_PRIVACY } from '../analytics/load-traces.ts';
import { Traffic } from '../analytics/traffic.ts';

/** Derived once; copies differ in their ids and times. A batch has fewer, so that compression finds no record twice. */
const DERIVED = 2_000;
const WORDS = 4_000;
/** Words of a prompt and of a completion: the record has 4 KB as JSON. */
const PROMPT_WORDS = 160;
const COMPLETION_WORDS = 110;

/** Makes records of traces of the analytics bench's traffic (300 keys, 40 models), with bodies, of 4 KB each. Every record has an id and a
 *  time of its own, that of now. */
export class SampleRecords {
  readonly #derived: readonly TraceRecord[] = deriveAll();
  readonly #createId = createTraceIds(randomBytes);
  #next = 0;

  take(count: number): TraceRecord[] {
    const now = Date.now();
    return Array.from({ length: count }, () => {
      const derived = this.#derived[this.#next++ % DERIVED] as TraceRecord;
      return { ...derived, id: this.#createId(now), timestamp: now - derived.latency_ms, created_at: now };
    });
  }
}

function deriveAll(): TraceRecord[] {
  const traffic = new Traffic(Date.now(), 1);
  const policy = { captureBodies: true, bodyMaxSize: 65_536, privacy: NO_PRIVACY };
  const context = {
    policy,
    privacy: openPrivacyContext(policy.privacy),
    prices: openPriceCatalogue({ override: undefined }),
    cpuMs: () => 0,
  };
  const createId = createTraceIds(randomBytes);
  const text = new SampleText();
  return Array.from({ length: DERIVED }, (_, at) =>
    deriveTrace(withBodies(traffic.exchange(at / DERIVED), text), context, createId(Date.now())),
  );
}

function withBodies(exchange: CapturedExchange, text: SampleText): CapturedExchange {
  const { model } = JSON.parse(textOf(exchange.request)) as { readonly model: string };
  const usage = textOf(exchange.response).replace(/^data: /, '');
  const request = { model, messages: [{ role: 'user', content: text.take(PROMPT_WORDS) }], temperature: 0.2 };
  const response = {
    id: `chatcmpl-${randomBytes(12).toString('base64url')}`,
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text.take(COMPLETION_WORDS) }, finish_reason: 'stop' }],
    ...(usage === '' ? {} : (JSON.parse(usage) as object)),
  };
  return { ...exchange, request: jsonBody(request), response: jsonBody(response) };
}

function textOf({ chunks }: CapturedBody): string {
  return Buffer.concat(chunks).toString();
}

function jsonBody(value: object): CapturedBody {
  const bytes = Buffer.from(JSON.stringify(value));
  return { kind: 'json', coding: '', chunks: [bytes], bytes: bytes.length, ending: 'whole', facts: undefined };
}

/** Made-up words of which few are frequent, as in a language: how text compresses decides what a record costs. */
class SampleText {
  readonly #words = Array.from({ length: WORDS }, () => randomBytes(12).toString('hex').replaceAll(/\d/g, '').slice(0, 8));

  take(words: number): string {
    return Array.from({ length: words }, () => this.#words[Math.floor(WORDS ** Math.random()) - 1]).join(' ');
  }
}
