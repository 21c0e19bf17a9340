export interface MockOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0, any free one. */
  readonly port?: number;
  /** The wait before every content chunk of a stream but the first; default 0. */
  readonly chunkDelayMs?: number;
}

/** A request as received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  /** The received part of the body, at most the first MiB. */
  readonly body: Buffer;
  /** Whether the client left before it had sent the whole request and received the whole response. */
  readonly aborted: boolean;
}

/** A mock provider for tests and the demo. Disposal closes every connection. */
export interface MockProvider extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  /** How many exchanges have begun. */
  readonly exchanges: number;
  /** The newest 1000 requests at most, oldest first. */
  readonly received: readonly ReceivedRequest[];
  /** How many responses are being written right now: headers sent, end not yet. */
  readonly open: number;
}
