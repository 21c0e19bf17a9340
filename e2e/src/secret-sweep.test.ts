import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestCollector, type TestCollector } from '@vitrine/testkit/test-collector';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEchoProvider, type EchoProvider } from './echo-provider.ts';
import { databaseText, filesText, telemetryText, unpackedBodies } from './leak-search.ts';
import { GATEWAY, startGateway, type RunningGateway } from './running-gateway.ts';
import { startProcess } from './running-process.ts';
import { SecretCells, SECRET_FORMS, SHORT_FORMS } from './secret-forms.ts';
import { ESCAPINGS, inLines, POSITIONS, STREAMS, streamOf, type SecretRequest } from './secret-positions.ts';

// Every form of a secret is sent to every place, through every mode of every kind of gateway, each time another secret. None of them may
// be found in anything that a gateway writes, sends or prints. A finding names its form, place and mode.

const GATEWAY_KEY = 'sgk_0123456789-0123456789-0123456789';
const PROVIDER_KEY = 'Bearer sk-proj-0123456789-0123456789';
const AT_ONCE = 24;
/** One of so many traces is also read by its id. */
const DETAILS_EVERY = 8;
const MODES = ['off', 'redact_storage', 'redact_upstream', 'block'] as const;
const SCOPES = `pii: { scopes: [${MODES.map((mode) => `{ match: { route_prefix: /openai/${mode} }, mode: ${mode} }`).join(', ')}] }`;
/** Commands that show trace data. The group is that of `state of a trace`. */
const COMMANDS: readonly string[] = [
  'report --limit 200 --format json',
  'debug --trace-group-id 0af7651916cd43dd8448eb211c80319c --limit 500 --diff --include-headers --include-bodies --bundle-out bundle',
];
/** Commands that show no trace: their output differs with keys at most. */
const OTHER_COMMANDS: readonly string[] = ['report --limit 200', 'doctor', 'diagnostics'];
const ALL_FORMS = { ...SECRET_FORMS, ...SHORT_FORMS };

interface Kind {
  readonly captures: boolean;
  readonly asksForKeys: boolean;
  readonly modes: readonly (typeof MODES)[number][];
  readonly pii: string;
}
const KINDS: readonly (readonly [string, Kind])[] = [
  ['bodies captured, with keys, a mode for each route', { captures: true, asksForKeys: true, modes: MODES, pii: SCOPES }],
  ['bodies captured, without keys, a mode for each route', { captures: true, asksForKeys: false, modes: MODES, pii: SCOPES }],
  ['bodies captured, without keys, off', { captures: true, asksForKeys: false, modes: ['off'], pii: 'pii: { mode: off }' }],
  ['no bodies, with keys, off', { captures: false, asksForKeys: true, modes: ['off'], pii: '' }],
  ['no bodies, without keys, off', { captures: false, asksForKeys: false, modes: ['off'], pii: '' }],
];

const json = (value: unknown) => JSON.stringify(value);

describe.each(KINDS)('a gateway: %s', (_, kind) => {
  const cells = new SecretCells();
  const ownResponses = new Set<string>();
  let opened: AsyncDisposableStack;
  let folder: string;
  let provider: EchoProvider;
  let collector: TestCollector;
  let gateway: RunningGateway;
  let exchanges = 0;

  beforeAll(async () => {
    opened = new AsyncDisposableStack();
    folder = opened.use(await temporaryFolder('sweep')).path;
    provider = opened.use(await startEchoProvider());
    collector = opened.use(await startTestCollector());
    const keys = `{ id: gk_test, token: ${GATEWAY_KEY}, org_id: o, workspace_id: w, role: owner }`;
    await writeFile(
      join(folder, 'vitrine.yaml'),
      `log: { level: trace, access: true }
tracing: { capture_bodies: ${kind.captures} }
observability: { otel: { prometheus_enabled: true, genai: true } }
auth: { enabled: ${kind.asksForKeys}, keys: [${keys}] }
${kind.pii}
`,
    );
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_METRIC_EXPORT_INTERVAL: '500' };
    // The log is read from a file, because it may be large.
    const under = ['sh', '-c', `exec "$@" >'${folder}/log.jsonl' 2>&1`, 'sh'] as const;
    gateway = opened.use(await startGateway({ folder, upstream: provider.url, variables, under }));
    await sendAll(kind.modes.flatMap((mode) => requestsOf(mode)));
    await askAll();
    if (kind.asksForKeys) await deny();
    await everythingWritten();
  });
  afterAll(async () => opened.disposeAsync());

  async function send({ method, path = '', headers = {}, body }: SecretRequest): Promise<string> {
    const response = await fetch(gateway.url + path, {
      method: method ?? 'POST',
      headers: { 'x-svc-gateway-key': GATEWAY_KEY, authorization: PROVIDER_KEY, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    // Other responses are the provider's.
    if (response.status >= 400 || path.startsWith('/api/'))
      for (const one of [text, ...Array.from(response.headers).flat()]) ownResponses.add(one);
    return text;
  }

  async function sendAll(requests: readonly SecretRequest[]): Promise<void> {
    const waiting = [...requests];
    exchanges += requests.length;
    const sendOne = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await send(next);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendOne));
  }

  function secretFor(form: string, cell: string): string {
    return ALL_FORMS[form]?.(cells.partOf(`${form} | ${cell}`, form in SHORT_FORMS)) ?? '';
  }

  function requestsOf(mode: string): SecretRequest[] {
    const requests = Object.entries(POSITIONS).flatMap(([position, place]) =>
      Object.keys(ALL_FORMS).map((form) => place(secretFor(form, `${position} | ${mode}`))),
    );
    for (const stream of STREAMS) {
      provider.streams.set(`${mode} ${stream}`, streamOf(stream, cutSecrets(`${stream} | ${mode}`)));
      requests.push({ headers: { 'x-stream': `${mode} ${stream}` }, body: '' });
    }
    const whole = Object.keys(ALL_FORMS).map((form) => ({ text: inLines(secretFor(form, `bytewise | ${mode}`)), cutAt: 1_000 }));
    provider.streams.set(`${mode} bytewise`, streamOf('messages', whole));
    requests.push({ headers: { 'x-stream': `${mode} bytewise`, 'x-bytewise': '1' }, body: '' });
    return requests.map((request) => ({ ...request, path: `/openai/${mode}${request.path ?? '/chat/completions'}` }));
  }

  /** Every form, cut at each of its characters; and one that comes character by character. */
  function cutSecrets(cell: string): { text: string; cutAt: number }[] {
    return Object.keys(ALL_FORMS).flatMap((form) => {
      const first = inLines(secretFor(form, `cut at 0 | ${cell}`));
      const others = Array.from({ length: first.length - 1 }, (_, i) => ({
        text: inLines(secretFor(form, `cut at ${i + 1} | ${cell}`)),
        cutAt: i + 1,
      }));
      return [{ text: first, cutAt: 0 }, ...others];
    });
  }

  /** Sends invalid requests to the admin API, which names the invalid value. */
  async function askAll(): Promise<void> {
    const invalid = Object.keys(ALL_FORMS).flatMap((form): SecretRequest[] => {
      const in_ = (where: string) => encodeURIComponent(secretFor(form, where));
      return [
        ...['limit', 'from', 'cursor', 'status', 'model', in_('name of a parameter')].map((name) => ({
          method: 'GET',
          path: `/api/traces?${name}=${in_(`parameter ${name}`)}`,
        })),
        { method: 'GET', path: `/api/traces/${in_('id of a trace')}` },
        { method: 'GET', path: `/api/analytics/usage?group_by=${in_('group_by')}` },
        { method: 'GET', path: `/api/${in_('route')}` },
        { path: '/api/gateway-keys', body: `{"name": ${json(secretFor(form, 'broken JSON'))}` },
        { path: '/api/gateway-keys', body: json({ [secretFor(form, 'unknown field')]: 1 }) },
        { path: '/api/gateway-keys', body: json({ name: secretFor(form, 'name of a key') }) },
        { method: 'DELETE', path: `/api/gateway-keys/${in_('id of a key')}` },
      ];
    });
    for (const one of invalid) await send(one);
  }

  /** Sends requests without a key until each denial is audited: of a burst only some are. */
  async function deny(): Promise<void> {
    const targets: string[] = [];
    for (const [escaping, escaped] of Object.entries(ESCAPINGS))
      for (const form of Object.keys(ALL_FORMS)) targets.push(escaped(secretFor(form, `audit, ${escaping}`)));
    // A record holds 256 characters of its target.
    const paths: string[] = [];
    for (const target of targets) {
      const last = paths.at(-1) ?? '';
      if (last !== '' && last.length + target.length < 220) paths[paths.length - 1] = `${last}&${target}`;
      else paths.push(`/openai/v1/${target}`);
    }
    for (const [i, path] of paths.entries()) {
      const headers = { 'x-svc-gateway-key': '', 'x-request-id': `denial-${i}.` };
      await waitUntil(
        async () => {
          await send({ path, headers });
          return (await readFile(join(folder, 'log.jsonl'), 'latin1')).includes(`"denial-${i}."`);
        },
        { what: 'an audited denial' },
      );
    }
  }

  async function everythingWritten(): Promise<void> {
    const diagnostics = async () =>
      (
        JSON.parse(await send({ method: 'GET', path: '/api/diagnostics/trace-pipeline' })) as {
          diagnostics: Record<string, number>;
        }
      ).diagnostics;
    const { enqueue_accepted_total: traces = 0 } = await diagnostics();
    await waitUntil(async () => (await diagnostics())['written_total'] === traces, { what: 'all traces' });
    const enqueued = () => collector.spans.filter(({ name }) => name === 'gateway.trace.enqueue').length;
    await waitUntil(() => enqueued() >= traces, { what: 'all spans' });
    expect(traces).toBeGreaterThanOrEqual(exchanges);
    if (!kind.asksForKeys) return;
    const audited = () => databaseText(join(folder, 'gateway-keys.db'));
    await waitUntil(() => audited().includes('denial-0.'), { what: 'the audit' });
  }

  async function run(line: string): Promise<string> {
    await using running = startProcess({
      command: [...GATEWAY, ...line.split(' ')],
      cwd: folder,
      env: { SVC_STORAGE_PATH: gateway.databasePath, SVC_SERVER_PORT: String(gateway.port), VITRINE_GATEWAY_KEY: GATEWAY_KEY },
    });
    expect([line, (await running.end()).code, running.stdout.length > 0]).toEqual([line, 0, true]);
    return running.stdout + running.stderr;
  }

  async function ids(): Promise<string[]> {
    const all: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page = JSON.parse(await send({ method: 'GET', path: `/api/traces?limit=200${cursor}` })) as {
        items: { id: string }[];
        next_cursor?: string;
      };
      all.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor === undefined ? undefined : `&cursor=${page.next_cursor}`;
    }
    return all;
  }

  const get = (path: string) => send({ method: 'GET', path });

  const sinks: Readonly<Record<string, () => Promise<string>>> = {
    'the traces, as the API returns them': async () => {
      const details: string[] = [];
      // All of them are in the files, from which these are made.
      const waiting = (await ids()).filter((_, i) => i % DETAILS_EVERY === 0);
      const readOne = async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) details.push(await get(`/api/traces/${next}`));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, readOne));
      return [...details, ...details.flatMap(unpackedBodies)].join('\n');
    },
    'the other responses of the API': async () => {
      const analytics = ['usage', 'cost', 'models', 'keys', 'latency', 'errors', 'summary'].map(
        (name) => `/api/analytics/${name}`,
      );
      const paths = ['/', '/api/health', '/api/diagnostics/trace-pipeline', '/api/gateway-keys', ...analytics];
      const grouped = ['errors', 'latency'].map((name) => `/api/analytics/${name}?group_by=model`);
      return (await Promise.all([...paths, ...grouped].map(get))).join('\n');
    },
    "the gateway's own responses": () => Promise.resolve([...ownResponses].join('\n')),
    'the spans': () => Promise.resolve(telemetryText(collector.spans)),
    'the metrics': () => Promise.resolve(telemetryText(collector.metricExports)),
    'the scrape': () => get('/metrics'),
    'what commands print': async () => {
      const commands = kind.modes.length > 1 ? [...COMMANDS, ...OTHER_COMMANDS] : COMMANDS;
      return (await Promise.all(commands.map(run))).join('\n');
    },
    'the files, the log and bundles among them': () => filesText(folder, ['vitrine.yaml']),
  };

  test.each(Object.entries(sinks))('no secret is in %s', async (_, read) => {
    const text = await read();
    expect(text.length).toBeGreaterThan(0);
    expect(cells.foundIn(text)).toEqual([]);
  });

  test('requests to a provider that must not get secrets contain none', () => {
    const guarded = provider.requests.filter((text) => text.startsWith('/redact_upstream') || text.startsWith('/block'));
    expect(guarded.length > 0).toBe(kind.modes.includes('block'));
    // A provider may get its own credential.
    const text = guarded.join('\n').replaceAll(/^api-key\n.*$/gm, '');
    expect(cells.foundIn(text)).toEqual([]);
  });

  test('the sweep covers all its cells', () => {
    expect(cells.count).toBeGreaterThan(kind.modes.length * 4_000);
    // Something was redacted in every body; without bodies, in headers and in some paths.
    const redactions = databaseText(gateway.databasePath).match(/(?:CREDENTIAL|TOKEN)_REDACTED/g) ?? [];
    expect(redactions.length).toBeGreaterThan(kind.captures ? exchanges : exchanges / 5);
  });
});
