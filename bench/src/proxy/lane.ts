import { connect, type Socket } from 'node:net';

import { ResponseReader } from './response-reader.ts';
import type { Step } from './load.ts';

export type Ending = 'completed' | 'cutByClient' | 'cutByUpstream' | 'error';

/** The state that the lanes of one load share. */
export interface Traffic {
  readonly port: number;
  readonly steps: readonly Step[];
  /** Whether no more requests may be sent. */
  over(): boolean;
  /** A request is sent. */
  started(): void;
  ended(ending: Ending, sentAt: number, why: string): void;
  /** A connection could not be made; no request was sent. */
  refused(why: string): void;
  /** The lane will send no more. */
  stopped(): void;
}

// Read synchronously and copied nowhere, so that all sockets of the process can share it.
const buffer = Buffer.allocUnsafe(64 * 1024);

/** One keep-alive connection in a closed loop: the next request is sent when the response is complete. */
export class Lane {
  readonly #traffic: Traffic;
  readonly #reader = new ResponseReader();
  #turn: number;
  #socket: Socket | undefined;
  #step: Step | undefined;
  #sentAt = 0;

  constructor(traffic: Traffic, index: number) {
    this.#traffic = traffic;
    this.#turn = index;
  }

  /** Connects; `ready` is called once, with the connection made or refused. */
  open(ready: () => void): void {
    const socket: Socket = connect({
      host: '127.0.0.1',
      port: this.#traffic.port,
      noDelay: true,
      onread: { buffer, callback: (length) => socket !== this.#socket || this.#read(length) },
    });
    this.#socket = socket;
    let connected = false;
    socket.once('connect', () => {
      connected = true;
      ready();
    });
    const gone = (why: string) => {
      if (socket !== this.#socket) return;
      this.#socket = undefined;
      if (this.#step !== undefined) return this.#end(this.#step.upstreamDies ? 'cutByUpstream' : 'error', why);
      if (connected) return;
      this.#traffic.refused(why);
      setTimeout(ready, 50);
    };
    socket.on('error', (error: NodeJS.ErrnoException) => gone(error.code ?? error.message));
    socket.on('close', () => gone('connection closed'));
  }

  next(): void {
    if (this.#traffic.over()) {
      this.#drop();
      this.#traffic.stopped();
      return;
    }
    const { steps } = this.#traffic;
    const step = steps[this.#turn++ % steps.length];
    if (step === undefined || this.#socket === undefined) return this.open(() => this.next());
    this.#step = step;
    this.#reader.expect(step.body);
    this.#traffic.started();
    this.#sentAt = performance.now();
    this.#socket.write(step.request);
  }

  /** Ends a stalled exchange. */
  abandon(): void {
    if (this.#step !== undefined) this.#end('error', 'no response');
  }

  #read(length: number): boolean {
    const step = this.#step;
    if (step === undefined) {
      this.#drop();
      return true;
    }
    const reading = this.#reader.push(buffer.subarray(0, length));
    if (reading === 'broken') this.#end('error', this.#reader.fault);
    else if (this.#reader.seen >= step.leaveAt) this.#end('cutByClient');
    else if (reading === 'done')
      this.#end(step.upstreamDies ? 'error' : 'completed', 'a stream that the upstream broke ended whole');
    return true;
  }

  #end(ending: Ending, why = ''): void {
    this.#step = undefined;
    if (ending !== 'completed') this.#drop();
    this.#traffic.ended(ending, this.#sentAt, why);
    if (this.#socket === undefined) this.open(() => this.next());
    else this.next();
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }
}
