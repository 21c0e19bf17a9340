import type { CapturedBody, ChunkTime } from '@vitrine/trace-derivation/captured-exchange';
import type { ServerResponse } from 'node:http';
import type { BodyKind } from '@vitrine/privacy/redaction';
import { CORRELATION_HEADER } from '../../telemetry/correlation-id.ts';
import { BodyCapture } from '../../recording/capture/body-capture.ts';
import { ChunkTimes } from '../../recording/capture/chunk-times.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import { contentCodingOf } from '@vitrine/privacy/bodies/body-kind';
import { wholeMs } from '@vitrine/traces/whole-ms';
import type { ReadHeaders } from './forwarded-headers.ts';
import type { ProxyContext } from './proxy-context.ts';
import { ResponseWriter } from './response-writer.ts';
import { forwardedTrailers } from './trailers.ts';

/** Forwards a provider's response to the client with back-pressure, and captures it for the trace. */
export class ForwardedResponse {
  /** Undefined before the head has arrived. */
  headers: ReadHeaders | undefined;
  isStream = false;
  chunks = 0;
  /** See `CapturedExchange`. */
  firstByteUs = 0;
  readonly #response: ServerResponse;
  readonly #read: ProxyContext['headers']['response'];
  readonly #writer: ResponseWriter;
  readonly #body: BodyCapture;
  readonly #storesBodies: boolean;
  readonly #started: number;
  readonly #onReady: () => void;
  /** Whether it ends with its connection, so that it is unknown whether it is complete. */
  #isOpenEnded = false;
  #expectedBytes = -1;
  #times: ChunkTimes | undefined;
  /** The provider's header of that name. */
  #connection: string | undefined;

  /** `started`: when the request arrived, on the clock of `performance.now()`. `onReady` is called when either side of a paused response has
   *  caught up. */
  constructor(
    response: ServerResponse,
    { budget, storedBodyMaxBytes, headers }: Pick<ProxyContext, 'budget' | 'storedBodyMaxBytes' | 'headers'>,
    started: number,
    onReady: () => void,
  ) {
    this.#response = response;
    this.#read = headers.response;
    this.#writer = new ResponseWriter(response);
    this.#body = new BodyCapture(budget, storedBodyMaxBytes, onReady, true);
    this.#storesBodies = storedBodyMaxBytes > 0;
    this.#started = started;
    this.#onReady = onReady;
  }

  get isClientBehind(): boolean {
    return this.#writer.isBehind;
  }

  get isGatewayBehind(): boolean {
    return this.#body.isBehind;
  }

  /** `kind`: how its body is read. */
  begin(head: ResponseHead, kind: BodyKind, correlationId: string, isHead: boolean): void {
    const { status, reason, contentEncoding, contentLength, connection, body } = head;
    const mayTrail = body.kind === 'chunked' && this.#response.useChunkedEncodingByDefault;
    const headers = this.#read(head.headers, connection, mayTrail);
    headers.forwarded.push(CORRELATION_HEADER, correlationId);
    this.headers = headers;
    this.#connection = connection;
    this.#body.kind = kind;
    this.#body.coding = contentCodingOf(contentEncoding);
    this.isStream = kind === 'sse';
    if (this.isStream && this.#storesBodies) this.#times = new ChunkTimes();
    this.#isOpenEnded = body.kind === 'open';
    this.#expectedBytes = contentLength === undefined || isHead ? -1 : contentLength;
    this.#writer.begin(status, reason, headers.forwarded);
  }

  /** Takes the next chunk, which may be overwritten after `flush`. */
  push(chunk: Buffer): void {
    if (this.isStream && (this.chunks === 0 || this.#times !== undefined)) this.#recordTime();
    this.chunks += 1;
    this.#body.push(chunk);
    if (this.#body.bytes === this.#expectedBytes) this.#writer.writeLast(chunk);
    else this.#writer.write(chunk);
  }

  /** Sends the taken chunks, after a read has ended or before the connection is closed. False: pause the response until `onReady`. */
  flush(): boolean {
    const isRoom = this.#writer.flush();
    if (!isRoom) this.#writer.onceDrained(this.#onReady);
    return isRoom && !this.#body.isBehind;
  }

  /** `trailers`: as received. */
  end(trailers: readonly string[]): void {
    this.#writer.end(forwardedTrailers(this.#read, trailers, this.#connection));
  }

  get chunkTimes(): readonly ChunkTime[] | undefined {
    return this.#times?.pairs();
  }

  /** See `BodyCapture.finished`. */
  finished(): Promise<void> | undefined {
    return this.#body.finished();
  }

  /** `isWhole`: it was fully sent. */
  captured(isWhole: boolean): CapturedBody {
    return this.#body.captured(isWhole ? (this.#isOpenEnded ? 'open' : 'whole') : 'cut');
  }

  #recordTime(): void {
    const sinceStart = microsSince(this.#started);
    if (this.chunks === 0) this.firstByteUs = sinceStart;
    this.#times?.add(this.#body.bytes, wholeMs(sinceStart));
  }
}

/** Whole microseconds since a time of `performance.now()`. */
export function microsSince(started: number): number {
  return Math.round((performance.now() - started) * 1_000);
}
