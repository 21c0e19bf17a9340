import { Agent, request as httpRequest } from 'node:http';

export interface ChatResponse {
  readonly status: number;
  readonly body: string;
  readonly latencyMs: number;
}

/** Results of clients in a loop. Each request has a unique model, which identifies its trace. */
export interface ClientLoad extends AsyncDisposable {
  /** Models of the requests with a complete 2xx response. */
  readonly completed: readonly string[];
  /** Responses with another status. */
  readonly refused: readonly ChatResponse[];
  readonly latenciesMs: readonly number[];
  /** Starts no further request. Resolves when those in progress have ended. */
  stop(): Promise<void>;
  /** Resolves when every client has given up because nothing listens. */
  readonly gaveUp: Promise<void>;
}

export interface ChatOptions {
  readonly model: string;
  readonly scenario?: string;
  readonly stream?: boolean;
  readonly agent?: Agent;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onText?: (text: string) => void;
}

/** One chat completion through a gateway; rejects when the response is incomplete. */
export function chat(
  gatewayUrl: string,
  { model, scenario = '', stream = false, agent, headers: more = {}, onText }: ChatOptions,
): Promise<ChatResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<ChatResponse>();
  const started = performance.now();
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hello there' }] });
  const headers = {
    authorization: 'Bearer sk-test-0123456789',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-mock-scenario': scenario,
    ...more,
  };
  const options = { method: 'POST', headers, ...(agent === undefined ? {} : { agent }) };
  const request = httpRequest(`${gatewayUrl}/openai/v1/chat/completions`, options, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      text += chunk;
      onText?.(text);
    });
    response.on('error', reject);
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, latencyMs: performance.now() - started }));
  });
  request.on('error', reject);
  request.end(body);
  return promise;
}

/** Starts `clients` clients with a connection each that send the next request as soon as a response is complete. A connection that breaks is
 *  replaced; a client gives up when it is refused a new one. */
export function startLoad(gatewayUrl: string, clients: number, name = 'load'): ClientLoad {
  const completed: string[] = [];
  const refused: ChatResponse[] = [];
  const latenciesMs: number[] = [];
  const stopping = new AbortController();
  const client = async (number: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; !stopping.signal.aborted; count += 1) {
      const model = `${name}-${number}-${count}`;
      try {
        const response = await chat(gatewayUrl, { model, agent });
        latenciesMs.push(response.latencyMs);
        if (response.status < 300) completed.push(model);
        else refused.push(response);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') break;
      }
    }
    agent.destroy();
  };
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number))).then(() => {});
  const stop = () => {
    stopping.abort();
    return running;
  };
  return { completed, refused, latenciesMs, stop, gaveUp: running, [Symbol.asyncDispose]: stop };
}
