import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestCollector } from '@vitrine/testkit/test-collector';
import { fork } from '@vitrine/traces/fork';
import { replay, type Replay } from '@vitrine/traces/replay';
import type { TraceDetail } from '@vitrine/traces/trace';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

// Which traces form a conversation, and what a replay of a fork contains. Spec: G6.6, G6.10, G6.11.

const TRACES = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(32));
const traceparent = (trace: string | undefined) => `00-${trace}-b7ad6b7169203331-01`;

/** A client: sends exchanges, one after the other, and names them. */
class Client {
  readonly gateway: TestGateway;
  readonly ids: Record<string, string> = {};
  #sent = 0;

  constructor(gateway: TestGateway) {
    this.gateway = gateway;
  }

  /** Keys are suffixes of the lineage headers; a parent is given by name. */
  async send(name: string, lineage: Readonly<Record<string, string | number>>, others: Readonly<Record<string, string>> = {}) {
    const claims = Object.entries(lineage).map(([field, value]): [string, string] => [
      `x-svc-${field}`,
      field === 'parent-checkpoint-id' ? (this.ids[value] ?? String(value)) : String(value),
    ]);
    const response = await fetch(`${this.gateway.url}/openai/v1/models`, {
      headers: [['authorization', 'Bearer sk-one-0123456789'], ...claims, ...Object.entries(others)],
    });
    await response.text();
    const trace = await this.gateway.newest((this.#sent += 1));
    this.ids[name] = trace.id;
    return trace;
  }

  /** Forks at a checkpoint and sends the first exchange of the new run. */
  async fork(name: string, at: string): Promise<Readonly<Record<string, string>>> {
    const response = await fetch(`${this.gateway.url}/api/traces/${this.ids[at]}/fork`, { method: 'POST' });
    const { headers } = fork.parse(await response.json());
    const lineage = Object.entries(headers).map(([field, value]) => [field.toLowerCase().replace('x-svc-', ''), value]);
    const claims = Object.fromEntries(lineage) as Record<string, string>;
    await this.send(name, claims);
    const { 'parent-checkpoint-id': _parent, 'checkpoint-seq': _seq, ...run } = claims;
    return run;
  }

  async replay(name: string, query: Readonly<Record<string, string>> = {}): Promise<Replay> {
    const parameters = new URLSearchParams(query).toString();
    return replay.parse(await this.gateway.get(`/api/traces/${this.ids[name]}/replay?${parameters}`));
  }

  /** The names of the replayed traces, and whether the replay was cut. */
  async shown(name: string, query: Readonly<Record<string, string>> = {}): Promise<string> {
    const { checkpoints, truncated } = await this.replay(name, query);
    const names = checkpoints.map(({ id }) => Object.keys(this.ids).find((one) => this.ids[one] === id));
    return `${truncated ? '... ' : ''}${names.join(' ')}`;
  }
}

const groupOf = ({ trace_group_id, lineage, metadata }: TraceDetail) => [
  trace_group_id,
  lineage?.group_id,
  metadata['lineage_group_id'],
];

describe.each(['off', 'on'])('with spans %s', (spans) => {
  let collector: Awaited<ReturnType<typeof startTestCollector>>;
  let gateway: TestGateway;
  let client: Client;
  beforeAll(async () => {
    collector = await startTestCollector();
    const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, SVC_OBSERVABILITY_OTEL_METRICS_ENABLED: 'false' };
    gateway = await startTestGateway(spans === 'on' ? otel : {});
    client = new Client(gateway);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await collector[Symbol.asyncDispose]();
  });

  test('a trace without lineage headers has no group', async () => {
    expect(groupOf(await client.send('nothing', {}))).toEqual([undefined, undefined, undefined]);
  });

  test('without a group header, the group is the trace id of the client traceparent', async () => {
    const [one, two] = TRACES;
    expect(groupOf(await client.send('labelled', {}, { traceparent: traceparent(one) }))).toEqual([one, one, one]);
    const named = await client.send('named', { 'trace-group-id': 'mine' }, { traceparent: traceparent(one) });
    expect(groupOf(named)).toEqual(['mine', 'mine', 'mine']);
    expect(groupOf(await client.send('broken', {}, { traceparent: `${traceparent(two)}-x` }))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const listed = (await gateway.get(`/api/traces?trace_group_id=${one}`)) as { items: { id: string }[] };
    expect(listed.items.map(({ id }) => id)).toEqual([client.ids['labelled']]);
  });

  test('the trace says who named its group, even if a client names one that looks like a trace id', async () => {
    const [one = ''] = TRACES;
    const sourceOf = ({ metadata }: TraceDetail) => metadata['lineage_group_source'];
    expect(sourceOf(await client.send('of-traceparent', {}, { traceparent: traceparent(one) }))).toBe('traceparent');
    expect(sourceOf(await client.send('of-client', { 'trace-group-id': one }))).toBe('client');
  });

  test('a client that sends only thread and parent has its conversation replayed', async () => {
    await client.send('one', { 'thread-id': 'plain' });
    await client.send('two', { 'thread-id': 'plain', 'parent-checkpoint-id': 'one' });
    await client.send('three', { 'thread-id': 'plain', 'parent-checkpoint-id': 'two' });
    expect(await client.shown('three')).toBe('one two three');
  });

  test('a group that is only a label neither splits nor joins conversations', async () => {
    for (const [i, name] of ['first', 'second', 'third'].entries()) {
      const lineage = { 'thread-id': 'traced', ...(i === 0 ? {} : { 'parent-checkpoint-id': ['first', 'second'][i - 1] ?? '' }) };
      await client.send(name, lineage, { traceparent: traceparent(TRACES[i]) });
    }
    await client.send('unrelated', { 'thread-id': 'other' }, { traceparent: traceparent(TRACES[2]) });
    await client.send('lonely', {}, { traceparent: traceparent(TRACES[2]) });
    expect(await client.shown('third')).toBe('first second third');
    expect(await client.shown('third', { checkpoint_id: client.ids['second'] ?? '' })).toBe('first second');
    expect(await client.shown('lonely')).toBe('lonely');
    const { lineage } = await client.replay('third');
    expect(lineage).toMatchObject({ group_id: TRACES[2], thread_id: 'traced' });
  });

  test('and does not stop a fork', async () => {
    const body = JSON.stringify({ checkpoint_id: client.ids['first'] });
    const response = await fetch(`${gateway.url}/api/traces/${client.ids['third']}/fork`, { method: 'POST', body });
    expect([response.status, fork.parse(await response.json()).lineage]).toEqual([
      200,
      expect.objectContaining({ group_id: TRACES[0], thread_id: 'traced', parent_checkpoint_id: client.ids['first'] }),
    ]);
    await client.fork('branch', 'second');
    expect(await client.shown('branch')).toBe('first second branch');
  });

  test('a client that sends only parents is replayed by them', async () => {
    await client.send('root', {});
    await client.send('left', { 'parent-checkpoint-id': 'root' });
    await client.send('right', { 'parent-checkpoint-id': 'root' });
    await client.send('leaf', { 'parent-checkpoint-id': 'left' }, { traceparent: traceparent(TRACES[3]) });
    expect(await client.shown('leaf')).toBe('root left leaf');
    expect(await client.shown('leaf', { checkpoint_id: client.ids['left'] ?? '' })).toBe('root left');
    expect(await client.shown('right')).toBe('root right');
  });
});

describe('a replayed fork shows the path to the root, and then its run', () => {
  let gateway: TestGateway;
  let client: Client;
  const run = { 'trace-group-id': 'g', 'thread-id': 't', 'run-id': 'r' };
  beforeAll(async () => {
    gateway = await startTestGateway();
    client = new Client(gateway);
    await client.send('one', run);
    await client.send('two', { ...run, 'parent-checkpoint-id': 'one', 'checkpoint-seq': 2 });
    await client.send('three', { ...run, 'parent-checkpoint-id': 'two', 'checkpoint-seq': 3 });
    const second = await client.fork('fork', 'two');
    // It has no parent header.
    await client.send('later', { ...second, 'checkpoint-seq': 4 });
    await client.send('four', { ...run, 'parent-checkpoint-id': 'three' });
    const third = await client.fork('twig', 'later');
    await client.send('tip', { ...third, 'parent-checkpoint-id': 'twig' });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  test.each([
    ['four', {}, 'one two three four'],
    ['fork', {}, 'one two fork'],
    ['later', {}, 'one two fork later'],
    ['tip', {}, 'one two fork later twig tip'],
    ['tip', { limit: '6' }, 'one two fork later twig tip'],
    ['tip', { limit: '5' }, '... two fork later twig tip'],
    ['tip', { limit: '3' }, '... later twig tip'],
    ['tip', { limit: '2' }, '... twig tip'],
    ['tip', { limit: '1' }, '... tip'],
    ['tip', { checkpoint_id: 'twig' }, 'one two fork later twig'],
    ['tip', { checkpoint_id: 'fork' }, 'one two fork'],
    ['tip', { checkpoint_id: 'one' }, 'one'],
    ['tip', { checkpoint_id: 'later', limit: '2' }, '... fork later'],
    ['tip', { checkpoint_id: 'one', limit: '1' }, 'one'],
  ])('%s, queried %j', async (name, { checkpoint_id: checkpoint, ...query }: Record<string, string>, shown) => {
    const parameters = checkpoint === undefined ? query : { ...query, checkpoint_id: client.ids[checkpoint] ?? '' };
    expect(await client.shown(name, parameters)).toBe(shown);
  });

  test('checkpoints beside the path are left out', async () => {
    for (const checkpoint of ['three', 'four']) {
      const response = await fetch(
        `${gateway.url}/api/traces/${client.ids['tip']}/replay?checkpoint_id=${client.ids[checkpoint]}`,
      );
      expect([response.status, await response.json()]).toEqual([404, { error: 'checkpoint not found' }]);
    }
  });

  test('the path continues where a run has no parents, by its numbers', async () => {
    const bare = { 'trace-group-id': 'g', 'thread-id': 'bare', 'run-id': 'b' };
    for (const seq of [1, 2, 3]) await client.send(`bare${seq}`, { ...bare, 'checkpoint-seq': seq });
    await client.fork('bareFork', 'bare2');
    expect(await client.shown('bareFork')).toBe('bare1 bare2 bareFork');
  });

  test('another group named by the client stops the path', async () => {
    await client.send('foreign', { 'trace-group-id': 'h', 'parent-checkpoint-id': 'two' });
    expect(await client.shown('foreign')).toBe('foreign');
  });

  test('missing parents are ignored', async () => {
    await client.send('orphan', { 'thread-id': 'o', 'parent-checkpoint-id': '0'.repeat(32) });
    await client.send('made-up', { 'thread-id': 'o', 'parent-checkpoint-id': 'step-1' });
    expect(await client.shown('made-up')).toBe('orphan made-up');
  });
});

test('the path never crosses into another tenant', async () => {
  const tokenOf = (org: string) => `sgk_${org.repeat(24)}`;
  const keys = ['a', 'b'].map((org) => `{ id: key-${org}, token: ${tokenOf(org)}, org_id: org-${org} }`);
  await using own = await startTestGateway({ SVC_AUTH_ENABLED: 'true' }, `auth: { keys: [${keys.join(', ')}] }`);
  const get = async (org: string, path: string, headers: Record<string, string> = {}) =>
    (
      await fetch(own.url + path, { headers: { 'x-svc-gateway-key': tokenOf(org), authorization: 'Bearer sk-x', ...headers } })
    ).json();
  const newest = async (org: string, count: number): Promise<string> => {
    for (;;) {
      const { items } = (await get(org, '/api/traces')) as { items: { id: string }[] };
      if (items.length >= count) return items[0]?.id ?? '';
    }
  };
  await get('a', '/openai/v1/models');
  const theirs = await newest('a', 1);
  await get('b', '/openai/v1/models', { 'x-svc-parent-checkpoint-id': theirs });
  const mine = await newest('b', 1);
  const { checkpoints, truncated } = replay.parse(await get('b', `/api/traces/${mine}/replay`));
  expect([checkpoints.map(({ id }) => id), truncated]).toEqual([[mine], false]);
});
