export type Reading = 'more' | 'done' | 'broken';

/** Reads one HTTP/1.1 response after the other from the parts a socket delivers and compares the body, byte for byte, with the
 *  expected one. Supports only what the bench needs: status 200, content-length or chunked. */
export class ResponseReader {
  /** Received and correct body bytes of the current response. */
  seen = 0;
  /** Why the response is broken. */
  fault = '';
  #expected: Buffer = Buffer.alloc(0);
  #head: Buffer | undefined;
  #state: 'head' | 'length' | 'size' | 'chunk' | 'chunk-end' | 'last' = 'head';
  /** Bytes left of the chunk, or of the line that ends a chunk. */
  #left = 0;
  #sizeRead = false;

  expect(body: Buffer): void {
    this.seen = 0;
    this.fault = '';
    this.#expected = body;
    this.#head = undefined;
    this.#state = 'head';
    this.#left = 0;
    this.#sizeRead = false;
  }

  push(part: Buffer): Reading {
    let at = 0;
    while (at < part.length) {
      if (this.#state === 'head') {
        const whole = this.#head === undefined ? part : Buffer.concat([this.#head, part]);
        const end = whole.indexOf('\r\n\r\n');
        if (end < 0) {
          this.#head = Buffer.from(whole);
          return 'more';
        }
        at = end + 4 - (whole.length - part.length);
        if (!this.#readHead(whole.toString('latin1', 0, end + 2))) return 'broken';
      } else if (this.#state === 'size') {
        at = this.#readSize(part, at);
      } else if (this.#state === 'chunk' || this.#state === 'length') {
        const end = Math.min(part.length, at + this.#left);
        if (!this.#readBody(part, at, end)) return 'broken';
        at = end;
        if (this.#left === 0 && this.#state === 'length') return this.#finish(part.length - at);
        if (this.#left === 0) this.#skip('chunk-end');
      } else {
        const end = Math.min(part.length, at + this.#left);
        this.#left -= end - at;
        at = end;
        if (this.#left === 0 && this.#state === 'last') return this.#finish(part.length - at);
        if (this.#left === 0) this.#state = 'size';
      }
      if (this.fault !== '') return 'broken';
    }
    return 'more';
  }

  #readHead(head: string): boolean {
    if (!head.startsWith('HTTP/1.1 200 ')) return this.#fail(`status ${head.slice(9, 12)}`);
    const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head);
    if (length === null) {
      if (!/\r\ntransfer-encoding: *chunked\r\n/i.test(head)) return this.#fail('response without a length');
      this.#state = 'size';
      return true;
    }
    this.#state = 'length';
    this.#left = Number(length[1]);
    return this.#left === this.#expected.length || this.#fail(`content-length ${this.#left} instead of ${this.#expected.length}`);
  }

  /** Reads hexadecimal digits up to the end of the line, which may come in a later part; skips an extension behind them. */
  #readSize(part: Buffer, from: number): number {
    for (let at = from; at < part.length; at += 1) {
      const byte = part[at] ?? 0;
      if (byte === 10) {
        this.#sizeRead = false;
        if (this.#left === 0) this.#skip('last');
        else this.#state = 'chunk';
        return at + 1;
      }
      if (byte === 59 || byte === 13) this.#sizeRead = true;
      if (this.#sizeRead) continue;
      const digit = byte <= 57 ? byte - 48 : (byte | 32) - 87;
      this.#left = this.#left * 16 + digit;
      if (digit < 0 || digit > 15 || this.#left >= 2 ** 31) this.#fail('a chunk size that is no number');
    }
    return part.length;
  }

  #readBody(part: Buffer, from: number, to: number): boolean {
    const seen = this.seen + to - from;
    if (seen > this.#expected.length) return this.#fail('more bytes than expected');
    if (part.compare(this.#expected, this.seen, seen, from, to) !== 0) return this.#fail(`body differs after byte ${this.seen}`);
    this.seen = seen;
    this.#left -= to - from;
    return true;
  }

  #skip(state: 'chunk-end' | 'last'): void {
    this.#state = state;
    this.#left = 2;
  }

  #finish(behind: number): Reading {
    if (behind > 0) this.#fail('bytes after the end of the response');
    if (this.seen < this.#expected.length) this.#fail(`body ended whole after ${this.seen} of ${this.#expected.length} bytes`);
    return this.fault === '' ? 'done' : 'broken';
  }

  #fail(fault: string): false {
    this.fault = fault;
    return false;
  }
}
