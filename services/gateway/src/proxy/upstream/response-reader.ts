import { ChunkedBody } from './chunked-body.ts';
import { checkCutHead, checkStart } from './head-syntax.ts';
import { readResponseHead, type ResponseHead } from './response-head.ts';
import { malformed, upstreamError } from './upstream-error.ts';

/** Node has the same bound for heads of requests. */
const HEAD_MAX_BYTES = 16_384;
/** Informational (1xx) responses before the final one. */
const MAX_INFORMATIONAL = 16;
/** The progress of a response of which nothing has arrived. */
export const BEFORE_RESPONSE = 'before the response';
const NO_TRAILERS: readonly string[] = [];
const HEAD_END = Buffer.from('\r\n\r\n');

/** Receives a response as it is parsed. */
export interface ResponseConsumer {
  onHead(head: ResponseHead): void;
  onData(chunk: Buffer): void;
  /** `trailers`: alternating names and values. */
  onEnd(trailers: readonly string[]): void;
}

/** Parses one response from the bytes of a connection, however they are segmented. It keeps neither the bytes nor the chunks that it
 *  passes on, so they may be overwritten afterwards. Informational responses are skipped. Bytes after the response are counted in
 *  `surplus`: no request
 *  is waiting for them, and the connection must not be used again. */
export class ResponseReader {
  readonly #consumer: ResponseConsumer;
  readonly #isHead: boolean;
  #state: 'head' | 'bytes' | 'chunked' | 'open' | 'ended' = 'head';
  /** The received part of the head. */
  #held: Buffer | undefined;
  #left = 0;
  #chunked: ChunkedBody | undefined;
  #informational = 0;
  #head: ResponseHead | undefined;
  surplus = 0;

  /** `isHead`: the request's method was HEAD, and its response has no body. */
  constructor(consumer: ResponseConsumer, isHead: boolean) {
    this.#consumer = consumer;
    this.#isHead = isHead;
  }

  /** The final head, once it has been read. */
  get head(): ResponseHead | undefined {
    return this.#head;
  }

  get isEnded(): boolean {
    return this.#state === 'ended';
  }

  /** Throws `malformed_response`. */
  push(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0 && this.#state === 'head') rest = this.#takeHead(rest);
    if (rest.length === 0) return;
    if (this.#state === 'bytes') this.#takeBytes(rest);
    else if (this.#chunked !== undefined && this.#state === 'chunked') this.#takeChunked(rest, this.#chunked);
    else if (this.#state === 'open') this.#consumer.onData(rest);
    else this.surplus += rest.length;
  }

  /** How much has arrived, for messages. */
  get progress(): string {
    if (this.#state === 'ended') return 'after the response';
    if (this.#state !== 'head') return 'within the response body';
    if (this.#held !== undefined) return 'within the response head';
    return this.#informational === 0 ? BEFORE_RESPONSE : 'after an informational response';
  }

  /** The connection has ended normally. Throws `reset` if the response had not, and `malformed_response` if the received part cannot begin a valid
   *  one. */
  close(): void {
    if (this.#state === 'ended') return;
    if (this.#state === 'open') return this.#end();
    if (this.#held !== undefined) checkCutHead(this.#held.toString('latin1'));
    this.#chunked?.checkCut();
    throw upstreamError('reset', `connection closed ${this.progress}`);
  }

  /** Returns what follows the head; undefined while the head is incomplete. */
  #takeHead(bytes: Buffer): Buffer {
    const all = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
    const end = all.indexOf(HEAD_END);
    if ((end === -1 ? all.length : end) > HEAD_MAX_BYTES) throw malformed(`response head longer than ${HEAD_MAX_BYTES} bytes`);
    if (end === -1) {
      checkStart(all);
      // The provider may send no more.
      if (all.includes('\n\n') || all.includes('\n\r\n')) throw malformed('response head ended by bare line feeds');
      this.#held = Buffer.from(all);
      return all.subarray(all.length);
    }
    this.#held = undefined;
    this.#begin(readResponseHead(all.toString('latin1', 0, end), this.#isHead));
    return all.subarray(end + HEAD_END.length);
  }

  #begin(head: ResponseHead): void {
    if (head.status < 200) {
      this.#informational += 1;
      if (head.status === 101) throw malformed('status 101 without a requested upgrade');
      if (this.#informational > MAX_INFORMATIONAL) throw malformed(`more than ${MAX_INFORMATIONAL} informational responses`);
      return;
    }
    this.#head = head;
    this.#state = head.body.kind;
    if (head.body.kind === 'bytes') this.#left = head.body.bytes;
    if (head.body.kind === 'chunked') this.#chunked = new ChunkedBody();
    this.#consumer.onHead(head);
    if (head.body.kind === 'bytes' && this.#left === 0) this.#end();
  }

  #takeBytes(bytes: Buffer): void {
    const chunk = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left);
    this.#left -= chunk.length;
    this.surplus += bytes.length - chunk.length;
    this.#consumer.onData(chunk);
    if (this.#left === 0) this.#end();
  }

  #takeChunked(bytes: Buffer, chunked: ChunkedBody): void {
    const taken = chunked.push(bytes, this.#consumer);
    this.surplus += bytes.length - taken;
    if (chunked.isEnded) this.#end();
  }

  #end(): void {
    this.#state = 'ended';
    this.#consumer.onEnd(this.#chunked?.trailers ?? NO_TRAILERS);
  }
}
