import { Fault } from '@vitrine/faults/fault';
import { REQUEST_TIMEOUT_MS, type ApiRequest, type ApiRequests, type WatchRequest } from '../runtime/kubernetes-client.ts';
import type { Leadership } from '../runtime/leader-election.ts';

/**
 * The API client of a leader. It writes only until the Lease ends by the leader's own clock, so that a paused former leader changes no
 * object. A write in flight is cancelled when the Lease ends. `FencedDatabase` has a stronger guarantee for rows. Faults of writes:
 * `leadership_lost`.
 */
export class FencedKubernetesClient implements ApiRequests {
  readonly #server: ApiRequests;
  readonly #leadership: Pick<Leadership, 'remainingMs'>;
  readonly #onLost: () => void;

  /** `onLost` is called when a write comes too late. */
  constructor(server: ApiRequests, leadership: Pick<Leadership, 'remainingMs'>, onLost: () => void) {
    this.#server = server;
    this.#leadership = leadership;
    this.#onLost = onLost;
  }

  async request<T>(request: ApiRequest): Promise<T> {
    if (request.method === 'GET') return await this.#server.request<T>(request);
    const remainingMs = Math.floor(this.#leadership.remainingMs());
    if (remainingMs <= 0) {
      this.#onLost();
      const { method, path } = request;
      throw new Fault('leadership_lost', { say: 'the Lease has expired', log: { method, path } });
    }
    return await this.#server.request<T>({
      ...request,
      timeoutMs: Math.min(request.timeoutMs ?? REQUEST_TIMEOUT_MS, remainingMs),
    });
  }

  watch(request: WatchRequest): Promise<AsyncIterable<Uint8Array>> {
    return this.#server.watch(request);
  }
}
