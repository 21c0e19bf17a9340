/** The module to serve in a thread, and the argument of its `openService`. */
export interface ModuleSource {
  /** URL of a `ThreadModule`. */
  readonly module: string;
  /** Passed to a worker thread as a structured clone. */
  readonly options: unknown;
}

export interface ThreadModule {
  readonly openService: (options: unknown) => ThreadService;
}

export interface ThreadService {
  call(argument: unknown): unknown;
  close(): void;
}

/** A thread that serves modules. The first call of a module loads it. */
export interface ModuleThread {
  /** Resolves with what `call` of the module's service returns. */
  callModule(source: ModuleSource, argument: unknown): Promise<unknown>;
}

/** The modules that the caller's own thread serves, each with one service. */
export class ThreadModules implements ModuleThread, AsyncDisposable {
  readonly #services = new Map<string, Promise<ThreadService>>();

  async callModule(source: ModuleSource, argument: unknown): Promise<unknown> {
    const opened = this.#services.get(source.module) ?? openModule(source);
    this.#services.set(source.module, opened);
    return (await opened).call(argument);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const service of this.#services.values()) (await service).close();
  }
}

async function openModule({ module, options }: ModuleSource): Promise<ThreadService> {
  return ((await import(module)) as ThreadModule).openService(options);
}
