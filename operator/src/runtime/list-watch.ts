import { backoffMs } from '@vitrine/postgres/backoff';
import { setTimeout as wait } from 'node:timers/promises';
import { hasStatus, type ApiRequest, type ApiRequests } from './kubernetes-client.ts';
import { listPages } from './object-requests.ts';
import { readWatchEvents, type WatchedObject, type WatchEvent } from './watch-events.ts';

/** Like client-go: the server ends a watch after 5 to 10 minutes. */
const WATCH_SECONDS = { min: 300, max: 600 };
/** Bookmarks come about once a minute; a watch that is silent for this long may be dead and is restarted. */
const SILENCE_MS = 75_000;
const RESTART = { firstMs: 500, maxMs: 30_000 };
/** A watch that ends sooner without an event counts as failed: otherwise a server that closes at once would be called without a pause. */
const SHORT_WATCH_MS = 1_000;
/** How often all objects are reconciled without a change, 10 % earlier or later. */
const RESYNC_MS = 600_000;

/** `resynced`: regularly, without a change. */
type Change = 'added' | 'updated' | 'deleted' | 'resynced';

export interface ListWatchOptions<T extends WatchedObject = WatchedObject> {
  /** Of the list, such as `/apis/vitrine.dev/v1alpha1/gatewaykeys`. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Whether to watch only metadata, so that data of Secrets is not kept in memory unnecessarily. */
  readonly isMetadataOnly?: boolean;
  /** Called with the key of an added, changed or deleted object, and regularly with every key. Must not throw. */
  readonly onChange: (key: string, change: Change) => void;
  /** Whether the difference between two versions of an object triggers a call; by default any does. */
  readonly isChange?: (before: T, after: T) => boolean;
  readonly onRestart: (error: unknown, consecutive: number) => void;
  readonly random?: () => number;
  /** For tests; `SILENCE_MS`. */
  readonly silenceMs?: number;
}

export interface ListWatchFigures {
  readonly objects: number;
  readonly restarts: number;
  readonly relists: number;
  /** Time since the API server sent anything for this kind; undefined before the first list. */
  readonly staleSeconds: number | undefined;
}

/** Caches the objects of one kind, and calls `onChange` for each change. A watch that ends is restarted from its last version if the server still
 *  has it, else from a new list. */
export class ListWatch<T extends WatchedObject> implements AsyncDisposable {
  readonly #server: ApiRequests;
  readonly #options: Required<Omit<ListWatchOptions<T>, 'labelSelector' | 'fieldSelector'>>;
  readonly #selectors: NonNullable<ApiRequest['query']>;
  readonly #objects = new Map<string, T>();
  readonly #stop = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  #resourceVersion: string | undefined;
  #activeAt: number | undefined;
  #restarts = 0;
  #relists = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(server: ApiRequests, { labelSelector, fieldSelector, ...options }: ListWatchOptions<T>) {
    this.#server = server;
    this.#selectors = { labelSelector, fieldSelector };
    const defaults = { random: Math.random, silenceMs: SILENCE_MS, isMetadataOnly: false, isChange: () => true };
    this.#options = { ...defaults, ...options };
  }

  /** Starts; resolves after the first list. Before that, a missing object may exist. */
  start(): Promise<void> {
    this.#running = Promise.all([this.#run(), this.#resync()]);
    return this.#synced.promise;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  get figures(): ListWatchFigures {
    return {
      objects: this.#objects.size,
      restarts: this.#restarts,
      relists: this.#relists,
      staleSeconds: this.#activeAt === undefined ? undefined : (performance.now() - this.#activeAt) / 1_000,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      try {
        if (this.#resourceVersion === undefined) await this.#relist();
        if (await this.#watch()) failures = 0;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        // The version is too old for the server to continue from.
        if (hasStatus(error, 410)) this.#resourceVersion = undefined;
        this.#restarts += 1;
        failures += 1;
        this.#options.onRestart(error, failures);
        await this.#pause(backoffMs(failures - 1, RESTART, 1 - this.#options.random()));
      }
    }
  }

  async #relist(): Promise<void> {
    const { path, isMetadataOnly } = this.#options;
    const listed = new Map<string, T>();
    let resourceVersion: string | undefined;
    const request = { path, query: this.#selectors, isMetadataOnly, signal: this.#stop.signal };
    for await (const { metadata, items } of listPages<T>(this.#server, request)) {
      for (const object of items ?? []) listed.set(keyOf(object), object);
      ({ resourceVersion } = metadata);
    }
    this.#relists += 1;
    this.#resourceVersion = resourceVersion;
    this.#activeAt = performance.now();
    for (const key of this.#objects.keys()) if (!listed.has(key)) this.#delete(key);
    for (const [key, object] of listed) this.#put(key, object);
    this.#synced.resolve();
  }

  /** Resolves when the server ends the watch, with whether it was useful: it had events, or it was accepted and then silent. */
  async #watch(): Promise<boolean> {
    const { path, random, silenceMs, isMetadataOnly } = this.#options;
    const startedAt = performance.now();
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error(`the watch of ${path} was silent for ${silenceMs} ms`)), silenceMs);
    const query = {
      ...this.#selectors,
      allowWatchBookmarks: true,
      resourceVersion: this.#resourceVersion,
      timeoutSeconds: Math.round(WATCH_SECONDS.min + random() * (WATCH_SECONDS.max - WATCH_SECONDS.min)),
    };
    let events = 0;
    let isAccepted = false;
    try {
      const signal = AbortSignal.any([this.#stop.signal, silence.signal]);
      const chunks = await this.#server.watch({ path, query, isMetadataOnly, signal });
      // A server that accepts a watch is available. The first bookmark comes a minute later.
      this.#activeAt = performance.now();
      isAccepted = true;
      for await (const event of readWatchEvents<T>(chunks, path)) {
        events += 1;
        timer.refresh();
        this.#handle(event);
      }
    } catch (error) {
      // The API server sends no bookmarks of a kind that has not changed since it started: the watch is restarted without counting a
      // failure.
      if (isAccepted && silence.signal.aborted && !this.#stop.signal.aborted) return true;
      throw error;
    } finally {
      clearTimeout(timer);
    }
    if (events === 0 && performance.now() - startedAt < SHORT_WATCH_MS) throw new Error(`the watch of ${path} ended at once`);
    return events > 0;
  }

  #handle({ type, object }: WatchEvent<T>): void {
    this.#activeAt = performance.now();
    this.#resourceVersion = object.metadata?.resourceVersion ?? this.#resourceVersion;
    if (type === 'BOOKMARK') return;
    const key = keyOf(object);
    if (type === 'DELETED') this.#delete(key);
    else this.#put(key, object);
  }

  #put(key: string, object: T): void {
    const before = this.#objects.get(key);
    if (before?.metadata?.resourceVersion === object.metadata?.resourceVersion) return;
    // The managed fields take as much memory as the object.
    delete object.metadata?.managedFields;
    this.#objects.set(key, object);
    if (before === undefined) this.#options.onChange(key, 'added');
    else if (this.#options.isChange(before, object)) this.#options.onChange(key, 'updated');
  }

  #delete(key: string): void {
    if (this.#objects.delete(key)) this.#options.onChange(key, 'deleted');
  }

  async #resync(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#pause(RESYNC_MS * (0.9 + this.#options.random() * 0.2));
      if (!this.#stop.signal.aborted) for (const key of this.#objects.keys()) this.#options.onChange(key, 'resynced');
    }
  }

  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
  }
}

/** `NAMESPACE/NAME`, or `NAME` for a cluster-scoped object. */
export function keyOf({ metadata }: WatchedObject): string {
  const name = metadata?.name ?? '';
  return metadata?.namespace === undefined ? name : `${metadata.namespace}/${name}`;
}
