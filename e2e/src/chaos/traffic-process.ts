// A mock provider and the clients of the gateways, in a separate process. Ends with its parent.
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { chat } from '../client-load.ts';
import type { Exchange, TrafficMessage, TrafficOrder } from './traffic.ts';

const MODELS = ['gpt-4o-mini', 'gpt-4o', 'gpt-4.1'];
const TICK_MS = 5;
const PROGRESS_MS = 5_000;
/** Connections to one gateway. */
const MAX_SOCKETS = 256;
/** Beyond this, requests are sent late instead of never, which the achieved rate shows. */
const MAX_IN_FLIGHT = 2_000;
/** How long responses may take when the last request was sent. */
const LAST_RESPONSES_MS = 15_000;

const report = (message: TrafficMessage) => void process.send?.(message);

class Traffic {
  readonly #order: TrafficOrder;
  readonly #agents: readonly Agent[];
  readonly #exchanges: Exchange[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  #sent = 0;

  constructor(order: TrafficOrder) {
    this.#order = order;
    this.#agents = order.urls.map(() => new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS }));
  }

  async run(): Promise<readonly Exchange[]> {
    const { rate, seconds } = this.#order;
    const progress = setInterval(() => this.#reportProgress(), PROGRESS_MS);
    const startedAt = performance.now();
    for (;;) {
      const elapsedMs = Math.min(performance.now() - startedAt, seconds * 1_000);
      const due = Math.floor((elapsedMs * rate) / 1_000);
      while (this.#sent < due && this.#inFlight.size < MAX_IN_FLIGHT) this.#begin();
      if (elapsedMs >= seconds * 1_000) break;
      await wait(TICK_MS);
    }
    await Promise.race([Promise.all(this.#inFlight), wait(LAST_RESPONSES_MS)]);
    // Ends requests in progress as exchanges without a response.
    for (const agent of this.#agents) agent.destroy();
    await Promise.all(this.#inFlight);
    clearInterval(progress);
    return this.#exchanges;
  }

  #reportProgress(): void {
    report({ kind: 'progress', sent: this.#sent, answered: this.#exchanges.filter(({ status }) => status > 0).length });
  }

  #begin(): void {
    const exchange = this.#exchange(this.#sent);
    this.#sent += 1;
    const ended = exchange.then((result) => {
      this.#exchanges.push(result);
      this.#inFlight.delete(ended);
    });
    this.#inFlight.add(ended);
  }

  async #exchange(number: number): Promise<Exchange> {
    const { urls, gatewayKeys, run } = this.#order;
    const id = `${run}-${number}`;
    const gateway = number % urls.length;
    const headers = {
      'x-correlation-id': id,
      'x-svc-gateway-key': gatewayKeys[Math.floor(number / urls.length) % gatewayKeys.length] ?? '',
    };
    const agent = this.#agents[gateway] as Agent;
    try {
      const { status, body } = await chat(urls[gateway] ?? '', { model: MODELS[number % 3] ?? '', agent, headers });
      return { id, gateway, status, tokens: status === 200 ? tokensOf(body) : 0, endedAt: Date.now() };
    } catch {
      return { id, gateway, status: 0, tokens: 0, endedAt: Date.now() };
    }
  }
}

function tokensOf(body: string): number {
  return (JSON.parse(body) as { readonly usage: { readonly total_tokens: number } }).usage.total_tokens;
}

const provider = await startMockOpenai();
process.on('message', (order: TrafficOrder) => {
  void new Traffic(order).run().then((exchanges) => report({ kind: 'done', exchanges }));
});
process.on('disconnect', () => process.exit(0));
report({ kind: 'ready', upstream: provider.url });
