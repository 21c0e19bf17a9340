/** A shorter event carries no text: a ping, or the end of a block or of the stream. */
const LEAST_BYTES = 90;

/** Sizes the text in a stream without reading its events, because that costs a tenth: each event has the same frame around its text, and the
 *  smallest has hardly any text. Independent of the segmentation. */
export class EventSizes {
  /** Events that may carry text. */
  events = 0;
  #bytes = 0;
  #frame = 0;
  #eventBytes = 0;
  #lineBytes = 0;
  #isAfterCr = false;

  /** Bytes beyond the frames, at least those of all texts. */
  get textBytes(): number {
    return this.#bytes - this.events * this.#frame;
  }

  /** `text` has a character for each byte. */
  push(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const bytes = this.#lineBytes + end - start;
      const isBlank = bytes === 0 || (bytes === 1 && (end > 0 ? text[end - 1] === '\r' : this.#isAfterCr));
      this.#eventBytes += end + 1 - start;
      this.#lineBytes = 0;
      start = end + 1;
      if (isBlank) this.#endEvent();
    }
    this.#lineBytes += text.length - start;
    this.#eventBytes += text.length - start;
    if (text !== '') this.#isAfterCr = text.endsWith('\r');
  }

  /** At the end of the stream, whose last event may lack its blank line. */
  end(): void {
    this.#endEvent();
  }

  #endEvent(): void {
    const bytes = this.#eventBytes;
    this.#eventBytes = 0;
    if (bytes < LEAST_BYTES) return;
    this.#frame = this.events === 0 ? bytes : Math.min(this.#frame, bytes);
    this.#bytes += bytes;
    this.events += 1;
  }
}
