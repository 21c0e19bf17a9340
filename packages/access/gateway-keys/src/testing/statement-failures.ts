/** Makes the n-th statement of a store fail, once. The store's test calls `statement` before each statement. */
export class StatementFailures {
  readonly #failAt: number;
  #seen = 0;

  /** `failAt`: from 1 on. */
  constructor(failAt: number) {
    this.#failAt = failAt;
  }

  get hasFailed(): boolean {
    return this.#seen >= this.#failAt;
  }

  statement(): void {
    this.#seen += 1;
    if (this.#seen === this.#failAt) throw new Error(`injected failure of statement ${this.#failAt}`);
  }
}
