import type { PepperIdentity } from './pepper-identity.ts';
import { pepperProblem, pepperProblemText, type PepperProblem, type StoredPeppers } from './pepper-problem.ts';

/** How often a process queries a store whose changes it does not follow. */
const CHECK_INTERVAL_MS = 30_000;
const AT = 'docs/failure-modes.md#pepper_mismatch';

interface PepperCheckOptions {
  readonly configured: readonly PepperIdentity[];
  readonly read: () => Promise<StoredPeppers>;
  readonly logger: {
    error(fields: object, message: string): void;
    info(fields: object, message: string): void;
  };
  /** Where the peppers are configured, such as `auth.peppers`. */
  readonly setting: string;
}

/** Compares the peppers of this process with those of the stored hashes. The last result stays valid while the store is unavailable. */
export class PepperCheck implements Disposable {
  readonly #options: PepperCheckOptions;
  #stored: StoredPeppers | undefined;
  #problem: PepperProblem | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PepperCheckOptions) {
    this.#options = options;
  }

  /** Why some stored tokens cannot be verified; undefined when all can, or before the first comparison. */
  get problem(): PepperProblem | undefined {
    return this.#problem;
  }

  /** Whether the peppers have been compared. */
  get isChecked(): boolean {
    return this.#stored !== undefined;
  }

  /** Whether the store has a fingerprint for this version. */
  isRecorded(version: number): boolean {
    return this.#stored?.recorded.some(({ pepper_version }) => pepper_version === version) === true;
  }

  /** Rejects when the store cannot be read. */
  async check(): Promise<void> {
    const { configured, read } = this.#options;
    this.#stored = await read();
    const problem = pepperProblem(configured, this.#stored);
    const last = this.#problem;
    this.#problem = problem;
    if (problem?.kind !== last?.kind || problem?.pepper_version !== last?.pepper_version) this.#log(problem);
  }

  /** Checks now and at intervals, until disposed. An unavailable store is reported by its other readers. */
  start(): void {
    const run = () => void this.check().catch(() => {});
    this.#timer = setInterval(run, CHECK_INTERVAL_MS).unref();
    run();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #log(problem: PepperProblem | undefined): void {
    const { logger, setting } = this.#options;
    if (problem === undefined) return logger.info({}, 'peppers match the stored tokens again');
    const { kind, pepper_version, hashes } = problem;
    const next_step = `put the pepper of version ${pepper_version} back into ${setting} and start the process again: ${AT}`;
    const fields = { error_class: `pepper_${kind}`, cause: pepperProblemText(problem), pepper_version, hashes, next_step };
    logger.error(fields, 'peppers do not match the stored tokens');
  }
}
