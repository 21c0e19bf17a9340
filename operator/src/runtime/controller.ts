import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { hasStatus, type ApiRequests } from './kubernetes-client.ts';
import { ListWatch, type ListWatchFigures, type ListWatchOptions } from './list-watch.ts';
import type { WatchedObject } from './watch-events.ts';
import { WorkQueue, type QueueFigures, type WorkQueueOptions } from './work-queue.ts';

const CONCURRENCY = 4;

export interface ReconcileResult {
  /** When the key is reconciled again without a change. */
  readonly requeueAfterMs?: number | undefined;
}

/** Named like in controller-runtime. */
type ReconcileOutcome = 'success' | 'requeue' | 'requeue_after' | 'error';
export const RECONCILE_OUTCOMES: readonly ReconcileOutcome[] = ['success', 'requeue', 'requeue_after', 'error'];

/** Receives metrics and log events of a controller. */
export interface ControllerObserver {
  reconciled(controller: string, outcome: ReconcileOutcome, tookMs: number): void;
  /** A pass that threw. The key is retried with backoff. */
  reconcileFailed(controller: string, key: string, error: unknown): void;
  /** Failed regular work, which is repeated. */
  repeatFailed(controller: string, error: unknown, consecutive: number): void;
  /** A list or watch that failed; the next one follows. */
  watchFailed(controller: string, kind: string, error: unknown, consecutive: number): void;
  readonly queue?: (controller: string) => Pick<WorkQueueOptions, 'onStart' | 'onDone'>;
}

export interface ControllerOptions {
  /** Such as `gatewaykey`. */
  readonly name: string;
  /** Reconciles one object. `signal` is aborted when work must stop. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult>;
  readonly observer: ControllerObserver;
  readonly concurrency?: number;
  readonly random?: () => number;
}

/** `signal` is aborted when the controller stops, or when work must stop. */
export type RepeatedWork = (signal: AbortSignal) => Promise<void>;

export interface ControllerFigures {
  readonly name: string;
  /** Whether every watched kind was listed, so that it reconciles. */
  readonly isSynced: boolean;
  readonly concurrency: number;
  readonly activeWorkers: number;
  readonly queue: QueueFigures;
  readonly watches: ReadonlyMap<string, ListWatchFigures>;
}

/** Reconciles the keys of one kind, some at a time and each by one worker at a time, after all kinds that it watches were listed. */
export class Controller implements AsyncDisposable {
  readonly name: string;
  readonly #options: ControllerOptions;
  readonly #concurrency: number;
  readonly #queue: WorkQueue;
  readonly #watches = new Map<string, ListWatch<WatchedObject>>();
  readonly #repeated: { readonly intervalMs: number; readonly work: RepeatedWork }[] = [];
  readonly #stop = new AbortController();
  readonly #abandoned = new AbortController();
  #workers: Promise<unknown> = Promise.resolve();
  #isSynced = false;
  #activeWorkers = 0;

  constructor(options: ControllerOptions) {
    const { name, observer, random, concurrency = CONCURRENCY } = options;
    this.name = name;
    this.#options = options;
    this.#concurrency = concurrency;
    this.#queue = new WorkQueue({ ...observer.queue?.(name), ...(random && { random }) });
  }

  get figures(): ControllerFigures {
    return {
      name: this.name,
      isSynced: this.#isSynced,
      concurrency: this.#concurrency,
      activeWorkers: this.#activeWorkers,
      queue: this.#queue.figures,
      watches: new Map([...this.#watches].map(([kind, watch]) => [kind, watch.figures])),
    };
  }

  add(key: string): void {
    this.#queue.add(key);
  }

  /** Declares a kind whose changes enqueue keys. Call before `start`. `kind`: for logs and metrics, each once. */
  watch<T extends WatchedObject>(
    server: ApiRequests,
    kind: string,
    options: Omit<ListWatchOptions<T>, 'onRestart'>,
  ): ListWatch<T> {
    const { observer, random } = this.#options;
    const onRestart = (error: unknown, consecutive: number) => observer.watchFailed(this.name, kind, error, consecutive);
    const watch = new ListWatch<T>(server, { ...options, onRestart, ...(random && { random }) });
    this.#watches.set(kind, watch as unknown as ListWatch<WatchedObject>);
    return watch;
  }

  /** Declares regular work during reconciliation. Call before `start`. */
  repeat(intervalMs: number, work: RepeatedWork): void {
    this.#repeated.push({ intervalMs, work });
  }

  /** Works on many keys at once, except those that a worker is reconciling. No worker reconciles them in the meantime. Afterwards all are
   *  reconciled. */
  async workTogether(keys: readonly string[], work: (claimed: readonly string[]) => Promise<void>): Promise<void> {
    const claimed = keys.filter((key) => this.#queue.claim(key));
    try {
      await work(claimed);
    } finally {
      for (const key of claimed) this.#queue.done(key);
      for (const key of keys) this.#queue.add(key);
    }
  }

  /** Begins; works as soon as all kinds are listed. */
  start(): void {
    this.#workers = this.#run();
  }

  /** Finishes the passes in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const watches = [...this.#watches.values()].map((watch) => watch[Symbol.asyncDispose]());
    await Promise.all([this.#queue.shutDown(), ...watches, this.#workers]);
  }

  /** Aborts the passes in progress, because another process may be reconciling. */
  abandon(): void {
    this.#abandoned.abort(new Error('leadership is lost'));
  }

  async #run(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const synced = Promise.all([...this.#watches.values()].map((watch) => watch.start()));
    await Promise.race([synced, once(this.#stop.signal, 'abort')]);
    if (this.#stop.signal.aborted) return;
    this.#isSynced = true;
    const workers = Array.from({ length: this.#concurrency }, () => this.#work());
    await Promise.all([...workers, ...this.#repeated.map(({ intervalMs, work }) => this.#repeat(intervalMs, work))]);
  }

  async #repeat(intervalMs: number, work: RepeatedWork): Promise<void> {
    const signal = AbortSignal.any([this.#stop.signal, this.#abandoned.signal]);
    let failures = 0;
    while (!signal.aborted) {
      try {
        await work(signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        this.#options.observer.repeatFailed(this.name, error, failures);
      }
      await wait(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.next(); key !== undefined; key = await this.#queue.next()) {
      const startedAt = performance.now();
      this.#activeWorkers += 1;
      const outcome = await this.#reconcile(key);
      this.#activeWorkers -= 1;
      this.#queue.done(key);
      this.#options.observer.reconciled(this.name, outcome, performance.now() - startedAt);
    }
  }

  async #reconcile(key: string): Promise<ReconcileOutcome> {
    const { reconcile, observer } = this.#options;
    try {
      const { requeueAfterMs } = await reconcile(key, this.#abandoned.signal);
      this.#queue.forget(key);
      if (requeueAfterMs === undefined) return 'success';
      this.#queue.addAfter(key, requeueAfterMs);
      return 'requeue_after';
    } catch (error) {
      this.#queue.addRateLimited(key);
      // Another writer changed the object, or the cache was behind. The next pass reads the new version.
      if (hasStatus(error, 409, 'Conflict')) return 'requeue';
      observer.reconcileFailed(this.name, key, error);
      return 'error';
    }
  }
}
