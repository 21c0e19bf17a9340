import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fork, type Fork } from '@vitrine/traces/fork';
import { replay, type Replay } from '@vitrine/traces/replay';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { traceDetail, tracePage } from '@vitrine/traces/trace';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

let gateway: TestGateway;
let sent = 0;
/** Sends an exchange and returns the id of its trace. */
async function send(lineage: Readonly<Record<string, string | number>>): Promise<string> {
  const claims = Object.entries(lineage).map(([name, value]): [string, string] => [`x-svc-${name}`, String(value)]);
  const response = await fetch(`${gateway.url}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: [['authorization', 'Bearer sk-one-0123456789'], ['content-type', 'application/json'], ...claims],
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello' }] }),
  });
  await response.text();
  sent += 1;
  return (await gateway.newest(sent)).id;
}

const thread = { 'trace-group-id': 'group', 'thread-id': 'thread', 'run-id': 'run' };
/** By name; `one` to `five` are a conversation. `four` was created before `three`, and only the second has a number. */
const ids: Record<string, string> = {};
beforeAll(async () => {
  gateway = await startTestGateway();
  ids['one'] = await send(thread);
  ids['two'] = await send({ ...thread, 'parent-checkpoint-id': ids['one'], 'checkpoint-seq': 2 });
  ids['four'] = await send({ ...thread, 'checkpoint-seq': 4 });
  ids['three'] = await send({ ...thread, 'parent-checkpoint-id': ids['two'] });
  ids['five'] = await send({ ...thread, 'parent-checkpoint-id': ids['four'], 'checkpoint-seq': 5 });
  ids['elsewhere'] = await send({ ...thread, 'thread-id': 'other', 'run-id': 'other' });
  ids['foreign'] = await send({ 'trace-group-id': 'other' });
  ids['threadOnly'] = await send({ 'thread-id': 'thread' });
  ids['alone'] = await send({});
  ids['last'] = await send({ ...thread, 'run-id': 'last', 'checkpoint-seq': '9'.repeat(15) });
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const idOf = (name: string) => ids[name] ?? name;
const nameOf = (id: string) => Object.keys(ids).find((name) => ids[name] === id);

async function ask(name: string, query: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${gateway.url}/api/traces/${idOf(name)}/replay?${new URLSearchParams(query).toString()}`);
}
async function replayed(name: string, query?: Readonly<Record<string, string>>): Promise<Replay> {
  return replay.parse(await (await ask(name, query)).json());
}
const namesIn = ({ checkpoints }: Replay) => checkpoints.map(({ id }) => nameOf(id)).join(' ');

const post = (name: string, body: string) => fetch(`${gateway.url}/api/traces/${idOf(name)}/fork`, { method: 'POST', body });
const resultOf = async (response: Response) => [response.status, await response.json()];

describe('GET /api/traces/:id/replay', () => {
  test('is the conversation up to the trace, in the order of parents and numbers', async () => {
    const conversation = await replayed('five');
    expect(namesIn(conversation)).toBe('one two three four five');
    expect(conversation).toMatchObject({
      source_trace_id: ids['five'],
      target_checkpoint_id: ids['five'],
      lineage: {
        group_id: 'group',
        thread_id: 'thread',
        run_id: 'run',
        checkpoint_id: ids['five'],
        parent_checkpoint_id: ids['four'],
        checkpoint_seq: 5,
        immutable: true,
      },
      truncated: false,
    });
    expect(conversation.checkpoints[1]).toEqual({
      id: ids['two'],
      timestamp: expect.any(String),
      provider: 'openai',
      model: 'gpt-4o-mini',
      request_method: 'POST',
      request_path: '/openai/v1/chat/completions',
      response_status: 200,
      total_tokens: expect.any(Number),
      latency_ms: expect.any(Number),
      created_at: expect.any(String),
      lineage: {
        group_id: 'group',
        thread_id: 'thread',
        run_id: 'run',
        checkpoint_id: ids['two'],
        parent_checkpoint_id: ids['one'],
        checkpoint_seq: 2,
        immutable: true,
      },
    });
  });

  test('its target_trace is the full trace', async () => {
    const { target_trace: target } = await replayed('five', { checkpoint_id: idOf('two') });
    expect(target).toEqual(traceDetail.parse(await gateway.get(`/api/traces/${ids['two']}`)));
  });

  test.each([
    ['stops at the checkpoint that was requested', 'five', { checkpoint_id: 'three' }, 'one two three', false],
    ['also when that is younger than the trace', 'one', { checkpoint_id: 'three' }, 'one two three', false],
    ['shows the newest when limit leaves some out', 'five', { limit: '3' }, 'three four five', true],
    ['is whole when limit is just enough', 'five', { limit: '5' }, 'one two three four five', false],
    ['0 means 200', 'five', { limit: '0' }, 'one two three four five', false],
    ['finds a target that is older than the scan reaches', 'five', { limit: '1', checkpoint_id: 'two' }, 'two', true],
    ['and what is before it', 'five', { limit: '2', checkpoint_id: 'two' }, 'one two', false],
    ['and what is numbered before it and younger', 'five', { limit: '3', checkpoint_id: 'four' }, 'two three four', true],
    ['and says so when what is older is numbered behind it', 'five', { limit: '2', checkpoint_id: 'three' }, 'two three', true],
    ['has nothing left out before the first', 'five', { limit: '1', checkpoint_id: 'one' }, 'one', false],
    ['another thread and run', 'five', { thread_id: 'other', run_id: 'other', checkpoint_id: 'elsewhere' }, 'elsewhere', false],
    [
      'the trace itself is there too',
      'elsewhere',
      { thread_id: 'thread', run_id: 'run' },
      'one two three four five elsewhere',
      false,
    ],
    ['a trace without a group is replayed by its thread', 'threadOnly', {}, 'one two three four five threadOnly', false],
    ['a trace that says nothing stands alone', 'alone', {}, 'alone', false],
  ])('%s', async (_name, source, { checkpoint_id: checkpoint, ...query }: Record<string, string>, names, truncated) => {
    const conversation = await replayed(source, {
      ...query,
      ...(checkpoint === undefined ? {} : { checkpoint_id: idOf(checkpoint) }),
    });
    expect([namesIn(conversation), conversation.truncated]).toEqual([names, truncated]);
  });

  test('fields missing in the target are taken from the requested scope', async () => {
    const { lineage } = await replayed('alone', { thread_id: 'none', run_id: 'none' });
    expect(lineage).toEqual({ thread_id: 'none', run_id: 'none', checkpoint_id: ids['alone'], immutable: true });
  });

  test.each([
    ['0'.repeat(32), {}, 404, 'trace not found'],
    ['nonsense', {}, 404, 'trace not found'],
    ['five', { checkpoint_id: '0'.repeat(32) }, 404, 'checkpoint not found'],
    ['five', { checkpoint_id: 'nonsense' }, 404, 'checkpoint not found'],
    ['five', { checkpoint_id: 'foreign' }, 404, 'checkpoint not found'],
    ['five', { checkpoint_id: 'elsewhere' }, 404, 'checkpoint not found'],
    ['five', { limit: '501' }, 400, 'limit must be <= 500'],
    ['five', { limit: 'x' }, 400, 'limit must be an integer'],
  ])('%s %j is %i %s', async (name, query: Record<string, string>, status, error) => {
    const named = query['checkpoint_id'] === undefined ? query : { checkpoint_id: idOf(query['checkpoint_id']) };
    expect(await resultOf(await ask(name, named))).toEqual([status, { error }]);
  });
});

describe('POST /api/traces/:id/fork', () => {
  test('branches off at the trace, and requests with its headers are replayed after it', async () => {
    const forked: Fork = fork.parse(await (await post('three', '')).json());
    expect(forked).toMatchObject({
      fork_id: expect.stringMatching(/^fork_[0-9a-f]{16}$/),
      source_trace_id: ids['three'],
      source_checkpoint_id: ids['three'],
      lineage: {
        group_id: 'group',
        thread_id: 'thread',
        run_id: expect.stringMatching(/^run_[0-9a-f]{16}$/),
        parent_checkpoint_id: ids['three'],
        checkpoint_seq: 1,
      },
    });
    const headers = Object.entries(forked.headers).map(([name, value]) => [name.toLowerCase().replace('x-svc-', ''), value]);
    ids['branch'] = await send(Object.fromEntries(headers) as Record<string, string>);
    expect((await replayed('branch')).lineage).toEqual({
      ...forked.lineage,
      checkpoint_id: ids['branch'],
      immutable: true,
    });
    expect(namesIn(await replayed('branch', { run_id: 'run', thread_id: 'thread' }))).toBe('one two three branch');
  });

  test('takes a checkpoint, a thread and a run', async () => {
    const body = { checkpoint_id: ids['two'], thread_id: ' mine ', run_id: 'my-run' };
    expect(await resultOf(await post('five', JSON.stringify(body)))).toEqual([
      200,
      expect.objectContaining({
        source_trace_id: ids['five'],
        source_checkpoint_id: ids['two'],
        headers: {
          'X-Svc-Trace-Group-ID': 'group',
          'X-Svc-Thread-ID': 'mine',
          'X-Svc-Run-ID': 'my-run',
          'X-Svc-Parent-Checkpoint-ID': ids['two'],
          'X-Svc-Checkpoint-Seq': '3',
        },
      }),
    ]);
  });

  test('writes nothing and calls no provider', async () => {
    const seen = async () => [gateway.openai.exchanges, (await gateway.traces(1)).length];
    const before = await seen();
    expect((await post('five', '{}')).status).toBe(200);
    expect(await seen()).toEqual(before);
  });

  test.each([
    ['0'.repeat(32), '{}', 404, 'trace not found'],
    ['five', `{"checkpoint_id":"${'0'.repeat(32)}"}`, 404, 'checkpoint not found'],
    ['five', '{"checkpoint_id":"foreign"}', 400, 'checkpoint must belong to the same trace lineage group'],
    ['last', '{}', 400, 'checkpoint has the highest possible sequence number'],
    ['five', '{"unknown":1}', 400, 'invalid fork request body'],
    ['five', '{} {}', 400, 'invalid fork request body'],
    ['five', '[]', 400, 'invalid fork request body'],
    ['five', 'nonsense', 400, 'invalid fork request body'],
    ['five', '{"thread_id":"a b"}', 400, 'thread_id: must be at most 128 characters of A-Za-z0-9-_.:'],
    ['five', JSON.stringify({ thread_id: 'x'.repeat(16_384) }), 413, 'fork request body too large'],
  ])('%s %s is %i %s', async (name, body, status, error) => {
    const named = body.replace('"foreign"', JSON.stringify(ids['foreign']));
    expect(await resultOf(await post(name, named))).toEqual([status, { error }]);
  });
});

test('with keys, only the part of a conversation in the own tenant is replayed', async () => {
  const tokenOf = (org: string) => `sgk_${org.repeat(24)}`;
  const keys = ['a', 'b'].map((org) => `{ id: key-${org}, token: ${tokenOf(org)}, org_id: org-${org} }`);
  await using own = await startTestGateway({ SVC_AUTH_ENABLED: 'true' }, `auth: { keys: [${keys.join(', ')}] }`);
  const of = (org: string) => ({ 'x-svc-gateway-key': tokenOf(org) });
  const listed = async (org: string) =>
    tracePage.parse(await (await fetch(`${own.url}/api/traces`, { headers: of(org) })).json()).items.map(({ id }) => id);
  for (const org of ['a', 'b', 'a']) {
    const headers = { ...of(org), 'x-svc-thread-id': 'thread', authorization: 'Bearer sk-one-0123456789' };
    await (await fetch(`${own.url}/openai/v1/models`, { headers })).text();
  }
  const [mine = '', first = ''] = await waitUntil(async () => (await listed('a')).length === 2 && listed('a'), {
    what: 'two traces',
  });
  const [theirs = ''] = await waitUntil(async () => (await listed('b')).length === 1 && listed('b'), { what: 'a trace' });
  const get = (path: string) => fetch(own.url + path, { headers: of('a') });
  const conversation = replay.parse(await (await get(`/api/traces/${mine}/replay`)).json());
  expect(conversation.checkpoints.map(({ id }) => id)).toEqual([first, mine]);
  expect(await resultOf(await get(`/api/traces/${theirs}/replay`))).toEqual([404, { error: 'trace not found' }]);
  expect(await resultOf(await get(`/api/traces/${mine}/replay?checkpoint_id=${theirs}`))).toEqual([
    404,
    { error: 'checkpoint not found' },
  ]);
  const body = JSON.stringify({ checkpoint_id: theirs });
  expect(await resultOf(await fetch(`${own.url}/api/traces/${mine}/fork`, { method: 'POST', headers: of('a'), body }))).toEqual([
    404,
    { error: 'checkpoint not found' },
  ]);
});
