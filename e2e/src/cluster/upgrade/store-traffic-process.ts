// Runs in a pod from its source alone: CLIENTS clients, each with one kept connection to TARGET, look stores up and enrich batches of them, one
// request after the other, until there is a file /tmp/stop. The keys are the lines of /tmp/token. The responses of all clients are added
// up and must equal the ledger.
import { existsSync, readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';

const TARGET = process.env['TARGET'] ?? '';
const CLIENTS = Number(process.env['CLIENTS']);
/** Of stores that are known, and of domains that are not. */
const STORES = (process.env['STORES'] ?? '').split(',');
const UNKNOWN = (process.env['UNKNOWN'] ?? '').split(',');
/** Between two requests of a client: shorter than a stopping service keeps an idle connection. */
const MAX_PAUSE_MS = 400;
const BATCH = 10;
const REPORT_MS = 2_000;
const SHOWN_FAILURES = 40;
const tokens = readFileSync('/tmp/token', 'utf8').trim().split('\n');

interface Sent {
  readonly path: string;
  readonly idempotencyKey?: string;
  readonly body?: string;
  readonly text: string;
}

const startedAt = performance.now();
const failures: { readonly second: number; readonly reason: string }[] = [];
const byReason: Record<string, number> = {};
const latenciesMs: number[] = [];
const told = { lookup_cached: 0, lookup_live: 0 };
let [sent, completed, enriched, replayed, running] = [0, 0, 0, 0, CLIENTS];

interface Received {
  readonly status: number;
  readonly isReplayed: boolean;
  readonly text: string;
}

/** Rejects with the reason for an incomplete response. Does not retry. */
function send(agent: Agent, token: string, { path, body, idempotencyKey }: Omit<Sent, 'text'>): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
  const method = body === undefined ? 'GET' : 'POST';
  const request = httpRequest(TARGET + path, { method, headers, agent }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => (text += chunk));
    response.on('error', (error: NodeJS.ErrnoException) => reject(new Error(`cut: ${error.code}`)));
    const isReplayed = response.headers['idempotent-replayed'] === 'true';
    response.on('end', () => resolve({ status: response.statusCode ?? 0, isReplayed, text }));
  });
  request.on('error', (error: NodeJS.ErrnoException) =>
    reject(new Error(`${error.code ?? error.message}${request.reusedSocket ? ' on a kept connection' : ''}`)),
  );
  request.end(body);
  return promise;
}

const pick = (from: readonly string[]) => from[Math.floor(Math.random() * from.length)] ?? '';

/** A lookup, a batch, or a repetition of the client's last batch. */
function choose(client: number, last: Sent | undefined): Omit<Sent, 'text'> {
  const kind = sent % 4;
  if (kind === 3 && last !== undefined) return last;
  if (kind !== 0) return { path: `/v1/stores/${pick(STORES)}` };
  const domains = Array.from({ length: BATCH }, () => pick(STORES)).concat(pick(UNKNOWN));
  const idempotencyKey = `client-${client}-${sent}`;
  return { path: '/v1/stores/enrich', idempotencyKey, body: JSON.stringify({ domains, refresh: true }) };
}

/** Adds up the billed units of a response. Returns its fault, or undefined. */
function check(
  { status, text, isReplayed }: Received,
  { body }: Omit<Sent, 'text'>,
  expected: string | undefined,
): string | undefined {
  if (status !== 200) return `status ${status}: ${text.slice(0, 200)}`;
  if (isReplayed !== (expected !== undefined)) return isReplayed ? 'replayed, and not repeated' : 'repeated, and not replayed';
  if (isReplayed) {
    replayed += 1;
    return text === expected ? undefined : 'another response to the same request';
  }
  const parsed = JSON.parse(text) as { readonly billed?: typeof told };
  const billed = parsed.billed ?? { lookup_cached: 1, lookup_live: 0 };
  told.lookup_cached += billed.lookup_cached;
  told.lookup_live += billed.lookup_live;
  if (body !== undefined) enriched += 1;
  return undefined;
}

async function runClient(client: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const token = tokens[client % tokens.length] ?? '';
  let last: Sent | undefined;
  while (!existsSync('/tmp/stop')) {
    const request = choose(client, last);
    const expected = request === last ? last.text : undefined;
    sent += 1;
    const beganAt = performance.now();
    const reason = await send(agent, token, request).then(
      (response) => {
        if (response.status === 200 && request.idempotencyKey !== undefined) last = { ...request, text: response.text };
        return check(response, request, expected);
      },
      (error: Error) => error.message,
    );
    latenciesMs.push(performance.now() - beganAt);
    if (reason === undefined) completed += 1;
    else {
      byReason[reason] = (byReason[reason] ?? 0) + 1;
      failures.push({ second: Math.round((performance.now() - startedAt) / 1_000), reason });
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE_MS));
    // After a turn of the event loop, which reads what the socket has received: else a client that was kept waiting would write to a connection
    // whose end it has not read yet.
    await new Promise((resolve) => setImmediate(resolve));
  }
  agent.destroy();
  running -= 1;
}

function report(): void {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const tookMs = { p50: at(0.5), p99: at(0.99), max: at(0.9999) };
  const failed = { count: failures.length, byReason, first: failures.slice(0, SHOWN_FAILURES) };
  const isEnd = running === 0;
  process.stdout.write(`${JSON.stringify({ isEnd, seconds, sent, completed, enriched, replayed, told, tookMs, failed })}\n`);
}

const reports = setInterval(report, REPORT_MS);
await Promise.all(Array.from({ length: CLIENTS }, (_, client) => runClient(client)));
clearInterval(reports);
report();
