import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { readFileSync } from 'node:fs';
import { cuts, lies, refusals, stalls, type ChaosCase } from './chaos-cases.ts';
import { startHostileProvider, type HostileProvider } from './hostile-provider.ts';
import { rawExchange } from './raw-exchange.ts';
import { referenceResponse } from './reference-response.ts';
import { startGateway, type RunningGateway, type TraceItem } from './running-gateway.ts';
import { freePort } from './running-process.ts';

/** How long a provider may be silent: when silence is not tested, and when it is. */
const PATIENT_MS = 20_000;
const IMPATIENT_MS = 1_000;
const REFUSED = 500;
const AT_ONCE = 64;
/** Concurrency of cases that only wait. */
const WAITING_AT_ONCE = 256;
const GROWTH_MAX_MB = 64;
/** Thirty seconds on two idle cores. */
const TEST_TIMEOUT_MS = 240_000;
/** A second, less the corrections by parts of a millisecond that a running clock gets. */
const SECOND_MS = 995;

let opened: AsyncDisposableStack;
let provider: HostileProvider;
beforeAll(async () => {
  opened = new AsyncDisposableStack();
  provider = opened.use(await startHostileProvider());
});
afterAll(async () => opened.disposeAsync());

async function serve(patienceMs: number): Promise<RunningGateway> {
  const folder = opened.use(await temporaryFolder('chaos'));
  const variables = {
    SVC_PROXY_FIRST_BYTE_TIMEOUT_MS: String(patienceMs),
    SVC_PROXY_IDLE_TIMEOUT_MS: String(patienceMs),
    SVC_PROVIDERS_ANTHROPIC_UPSTREAM: `http://127.0.0.1:${await freePort()}`,
  };
  return opened.use(await startGateway({ folder: folder.path, upstream: provider.url, variables }));
}

const BODY = '{"model":"gpt-4o-mini"}';
const send = (gateway: RunningGateway, method: string, path: string) => {
  const body = method === 'HEAD' ? '' : `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
  const head = `${method} ${path} HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n`;
  return rawExchange(gateway.port, head + (body === '' ? '\r\n' : body), { timeoutMs: 2 * PATIENT_MS });
};

/** Runs all of them, `atOnce` at a time. */
async function inParallel<T>(all: readonly T[], atOnce: number, run: (one: T, at: number) => Promise<void>): Promise<void> {
  const queue = all.entries();
  const worker = async () => {
    for (const [at, one] of queue) await run(one, at);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Headers of a connection, those that the gateway adds, and those that it does not forward. */
const NOT_FORWARDED = new Set(
  'connection keep-alive proxy-connection te trailer transfer-encoding upgrade proxy-authenticate set-cookie x-svc-correlation-id'.split(
    ' ',
  ),
);
function endToEnd(headers: readonly (readonly [string, string])[]): string[] {
  const named = headers
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((one) => one.trim().toLowerCase()));
  return headers
    .filter(([name]) => !NOT_FORWARDED.has(name.toLowerCase()) && !named.includes(name.toLowerCase()))
    .map(([name, value]) => `${name}: ${value}`);
}

/** The fault of the client's response; undefined if it is as expected. */
function flawOf({ method, reference, expected }: ChaosCase, text: string): string | undefined {
  const got = referenceResponse(Buffer.from(text, 'latin1'), method);
  const { head, body, trailers } = reference;
  if (expected.outcome !== 'completed' && head === undefined) {
    const own = { error: expect.stringContaining(`(${expected.upstreamError})`), upstream_error: expected.upstreamError };
    // To HEAD there is no body.
    if (got.end !== 'whole' || got.head?.status !== expected.status) return 'not the JSON of the gateway';
    return method === 'HEAD' || isEqual(JSON.parse(got.body), own) ? undefined : `another body: ${got.body}`;
  }
  if (expected.outcome !== 'completed') {
    const isPrefix = got.head === undefined || (got.head.status === head?.status && body.startsWith(got.body));
    if (got.end === 'whole') return 'a response that looks whole';
    return isPrefix ? undefined : 'what the provider did not send';
  }
  if (got.end !== 'whole' || got.head?.status !== head?.status || got.body !== body) return 'another response';
  if (!isEqual(got.trailers, trailers)) return 'other trailers';
  return isEqual(endToEnd(got.head?.headers ?? []), endToEnd(head?.headers ?? [])) ? undefined : 'other headers';
}

function isEqual(got: unknown, wanted: unknown): boolean {
  try {
    expect(got).toEqual(wanted);
    return true;
  } catch {
    return false;
  }
}

interface Traced extends TraceItem {
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The traces of a run in full, by the path of their request, once there are so many in all. */
async function tracesOf(gateway: RunningGateway, run: string, count: number): Promise<Map<string, Traced[]>> {
  await waitUntil(async () => (await gateway.diagnostics()).written_total >= count, { what: `${count} traces` });
  const listed = (await gateway.traces()).filter(({ request_path }) => request_path.includes(run));
  const traces: Traced[] = [];
  await inParallel(listed, 8, async ({ id }) => void traces.push(await gateway.get<Traced>(`/api/traces/${id}`)));
  return Map.groupBy(traces, ({ request_path }) => request_path);
}

const seenIn = (traces: readonly Traced[] | undefined) =>
  traces?.map(({ outcome, response_status: status, metadata }) => ({
    outcome,
    status,
    upstreamError: metadata['upstream_error'],
    hasDetail: typeof metadata['upstream_error_detail'] === 'string',
  }));

/** Runs all cases against a gateway; the client's response and the one trace of each have to be as expected. */
async function expectAll(gateway: RunningGateway, run: string, cases: readonly ChaosCase[], atOnce: number): Promise<void> {
  const pathOf = ({ route }: ChaosCase, at: number) => `/${route}/v1/${run}/${at}`;
  provider.response = (head) => cases[Number(/\/(\d+) HTTP/.exec(head)?.[1])]?.response ?? { bytes: '', afterwards: 'reset' };
  const before = await gateway.diagnostics();
  const flaws: unknown[] = [];
  await inParallel(cases, atOnce, async (one, at) => {
    const text = await send(gateway, one.method, pathOf(one, at));
    const flaw = flawOf(one, text);
    if (flaw !== undefined) flaws.push({ case: one.name, flaw, text });
  });
  expect({ count: flaws.length, first: flaws.slice(0, 20) }).toEqual({ count: 0, first: [] });
  const traces = await tracesOf(gateway, run, before.written_total + cases.length);
  const wrong = cases.flatMap((one, at) => {
    const seen = seenIn(traces.get(pathOf(one, at)));
    const wanted = [{ ...one.expected, hasDetail: one.expected.upstreamError !== undefined }];
    return isEqual(seen, wanted) ? [] : [{ case: one.name, wanted, seen }];
  });
  expect({ count: wrong.length, first: wrong.slice(0, 20) }).toEqual({ count: 0, first: [] });
  expect((await gateway.diagnostics()).enqueue_accepted_total).toBe(before.enqueue_accepted_total + cases.length);
}

interface LogLine {
  readonly msg: string;
  readonly time: string;
  readonly upstream_error: string;
  readonly upstream_error_detail: string;
  readonly correlation_id: string;
  readonly next_step: string;
  readonly suppressed: Readonly<Record<string, number>>;
}

/** One line a second at most for each cause, and every failure is counted in one of them. */
async function expectLogged(gateway: RunningGateway, failures: ReadonlyMap<string, number>): Promise<void> {
  const lines = () =>
    gateway.process.stdout
      .split('\n')
      .filter((line) => line.includes('"upstream request failed"'))
      .map((line) => JSON.parse(line) as LogLine);
  const counted = () =>
    Map.groupBy(lines(), (line) => line.upstream_error)
      .entries()
      .map(
        ([cause, own]) =>
          [cause, own.reduce((sum, { suppressed }) => Object.values(suppressed).reduce((a, b) => a + b, sum + 1), 0)] as const,
      );
  await waitUntil(() => isEqual(new Map(counted()), failures), { what: 'every failure to be counted in the log' }).catch(() =>
    expect(new Map(counted())).toEqual(failures),
  );
  for (const [cause, own] of Map.groupBy(lines(), (line) => line.upstream_error)) {
    const times = own.map(({ time }) => Date.parse(time));
    const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0));
    expect({ cause, shortest: Math.min(SECOND_MS, ...gaps) }).toEqual({ cause, shortest: SECOND_MS });
    for (const line of own)
      expect(line).toMatchObject({
        upstream_error_detail: expect.stringMatching(/\w/),
        correlation_id: expect.stringMatching(/\w/),
        next_step: expect.stringMatching(/\w/),
      });
  }
}

const failuresOf = (cases: readonly ChaosCase[]) =>
  new Map(
    [...Map.groupBy(cases, ({ expected }) => expected.upstreamError)].flatMap(([cause, own]) =>
      cause === undefined ? [] : [[cause, own.length] as const],
    ),
  );

const memoryMb = ({ process }: RunningGateway) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${process.pid}/status`, 'utf8'))?.[1]) / 1_024;

/** After every case: the process lives, no memory is held, and a valid response passes unchanged. */
async function expectHealthy(gateway: RunningGateway): Promise<void> {
  await waitUntil(() => provider.connections === 0, { what: 'the end of every connection to the provider' });
  expect(gateway.process.isRunning).toBe(true);
  expect((await gateway.health()).status).toBe('ok');
  expect(await gateway.diagnostics()).toMatchObject({ queue_depth: 0, total_dropped_total: 0, body_bytes_held: 0 });
  expect(gateway.process.stdout).not.toContain('uncaught exception');
  provider.response = { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsound', afterwards: 'keep' };
  expect(await send(gateway, 'POST', '/openai/v1/sound')).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nsound$/);
}

describe('a provider that refuses, resets, stalls and sends wrong data at every byte of a response', () => {
  test(
    'refuses, breaks off or lies: the client, the one trace and the log name the cause',
    async () => {
      const gateway = await serve(PATIENT_MS);
      const refused = refusals(REFUSED);
      await expectAll(gateway, 'refusals', refused, AT_ONCE);
      const cases = [...cuts(), ...lies()];
      await expectAll(gateway, 'once', cases, AT_ONCE);
      // Memory loaded by their first run does not count as held.
      const before = memoryMb(gateway);
      const half = cases.filter((_, at) => at % 2 === 0);
      await expectAll(gateway, 'again', half, AT_ONCE);
      expect(memoryMb(gateway) - before).toBeLessThan(GROWTH_MAX_MB);
      await expectLogged(gateway, failuresOf([...refused, ...cases, ...half]));
      await expectHealthy(gateway);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'falls silent: the client, the one trace and the log say when',
    async () => {
      const gateway = await serve(IMPATIENT_MS);
      const cases = stalls();
      await expectAll(gateway, 'stalls', cases, WAITING_AT_ONCE);
      await expectLogged(gateway, failuresOf(cases));
      await expectHealthy(gateway);
    },
    TEST_TIMEOUT_MS,
  );
});
