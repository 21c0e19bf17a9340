// Runs in a pod from its source alone: sends PER_SECOND requests a second to TARGET, independent of earlier responses, until there is a
// file /tmp/stop. The token is in /tmp/token, read again every TOKEN_MS. Each request names a model of its own, by which its trace is
// known. With NEW_CONNECTIONS each has a connection of its own, which the Service gives to any pod that it believes to be ready.
import { existsSync, readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';

const TARGET = process.env['TARGET'] ?? '';
const PER_SECOND = Number(process.env['PER_SECOND']);
const MAX_DELAY_MS = Number(process.env['MAX_DELAY_MS']);
const LONG_STREAMS = Number(process.env['LONG_STREAMS']);
const PREFIX = process.env['PREFIX'] ?? '';
const HAS_NEW_CONNECTIONS = process.env['NEW_CONNECTIONS'] === 'true';
/** Of a stream that is meant to outlive the gateway that serves it. */
const LONG_MS = 3_600_000;
/** What most requests take at most, of MAX_DELAY_MS. */
const MOST_SHARE = 0.6;
const TICK_MS = 20;
const TOKEN_MS = 200;
const REPORT_MS = 2_000;
/** After a pause of the machine, what was missed is not sent at once. */
const MAX_BURST = 40;
const MAX_IN_FLIGHT = 1_200;
const SHOWN_FAILURES = 40;
const KEPT = ' on a kept connection';

interface Failure {
  readonly id: string;
  /** Since the beginning. */
  readonly second: number;
  /** Of the provider, and until the failure. */
  readonly delayMs: number;
  readonly tookMs: number;
  readonly reason: string;
}

/** In turn, so that each connection is used within the seconds for which a stopping gateway keeps it, and none that has ended: an agent that
 *  takes the newest leaves some idle until they are closed, and takes closed ones before it has heard of their end. */
const agent = new Agent(
  HAS_NEW_CONNECTIONS ? { keepAlive: false } : { keepAlive: true, maxFreeSockets: 2_000, scheduling: 'fifo' },
);
const startedAt = performance.now();
const failures: Failure[] = [];
const byReason: Record<string, number> = {};
const latenciesMs: number[] = [];
const endedStreams: string[] = [];
let [sent, completed, skipped, inFlight, longInFlight, token, tokenAt] = [0, 0, 0, 0, 0, '', -Infinity];

function currentToken(): string {
  if (performance.now() - tokenAt > TOKEN_MS) [token, tokenAt] = [readFileSync('/tmp/token', 'utf8').trim(), performance.now()];
  return token;
}

/** Resolves with the reason of a failure. Does not retry, because clients must not notice an upgrade of the gateway. */
function send(id: string, delayMs: number, stream: boolean): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const body = JSON.stringify({ model: id, stream, messages: [{ role: 'user', content: 'hello there' }] });
  const headers = {
    authorization: 'Bearer sk-test',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-delay-ms': String(delayMs),
    'x-svc-gateway-key': currentToken(),
  };
  const request = httpRequest(`${TARGET}/openai/v1/chat/completions`, { method: 'POST', headers, agent }, (response) => {
    let [end, bytes] = ['', 0];
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      bytes += text.length;
      end = (end + text).slice(-300);
    });
    response.on('error', (error: NodeJS.ErrnoException) =>
      resolve(`cut after ${bytes > 0 ? 'some' : 'no'} bytes: ${error.code}`),
    );
    response.on('end', () => {
      const isWhole = stream ? end.includes('[DONE]') : end.endsWith('}');
      if (response.statusCode !== 200) resolve(`status ${response.statusCode}: ${end}`);
      else resolve(isWhole ? undefined : `status 200, ended early: ${end.slice(-40)}`);
    });
  });
  request.on('error', (error: NodeJS.ErrnoException) =>
    resolve(`${error.code ?? error.message}${request.reusedSocket ? KEPT : ''}`),
  );
  request.end(body);
  return promise;
}

function sendOne(number: number): void {
  const id = `${PREFIX}-${number}`;
  const beganAt = performance.now();
  // Most take less than a second, few nearly MAX_DELAY_MS.
  const longestMs = number % 50 === 0 ? MAX_DELAY_MS : MAX_DELAY_MS * MOST_SHARE;
  const delayMs = Math.round(longestMs * Math.random() ** 2);
  inFlight += 1;
  void send(id, delayMs, number % 4 === 0).then((reason) => {
    inFlight -= 1;
    latenciesMs.push(performance.now() - beganAt - delayMs);
    if (reason === undefined) {
      completed += 1;
      return;
    }
    byReason[reason] = (byReason[reason] ?? 0) + 1;
    const second = Math.round((performance.now() - startedAt) / 1_000);
    failures.push({ id, second, delayMs, tookMs: Math.round(performance.now() - beganAt), reason });
  });
}

function report(isEnd: boolean): void {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const figures = {
    sent,
    completed,
    skipped,
    inFlight,
    longInFlight,
    addedMs: { p50: at(0.5), p99: at(0.99), max: at(0.9999) },
  };
  const failed = { count: failures.length, byReason, first: failures.slice(0, SHOWN_FAILURES) };
  process.stdout.write(`${JSON.stringify({ isEnd, seconds, ...figures, failed, endedStreams })}\n`);
}

for (let number = 0; number < LONG_STREAMS; number += 1) {
  longInFlight += 1;
  void send(`long-${number}`, LONG_MS, true).then((reason) => {
    longInFlight -= 1;
    endedStreams.push(`long-${number}: ${reason}`);
  });
}

const reports = setInterval(() => report(false), REPORT_MS);
let due = performance.now();
const ticks = setInterval(() => {
  if (existsSync('/tmp/stop')) {
    clearInterval(ticks);
    const end = setInterval(() => {
      if (inFlight > 0) return;
      clearInterval(end);
      clearInterval(reports);
      report(true);
      process.exit(0);
    }, TICK_MS);
    return;
  }
  // After a turn of the event loop, which reads what sockets have received: this process, too, may have been kept waiting, and would write to a
  // connection whose end it has not read yet.
  setImmediate(sendDue);
}, TICK_MS);

function sendDue(): void {
  const now = performance.now();
  for (let burst = 0; due <= now; due += 1_000 / PER_SECOND) {
    burst += 1;
    if (burst > MAX_BURST || inFlight >= MAX_IN_FLIGHT) {
      skipped += 1;
      continue;
    }
    sendOne(sent);
    sent += 1;
  }
}
