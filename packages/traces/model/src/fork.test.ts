import { describe, expect, test } from '@jest/globals';
import { forkAt, type ForkRequest } from './fork.ts';
import type { Lineage, TraceDetail } from './trace.ts';

const SOURCE = '1'.repeat(32);
const CHECKPOINT = '2'.repeat(32);

/** The parts of a trace that a fork uses. */
const trace = (id: string, lineage: Partial<Lineage> | undefined, groupId?: string) =>
  ({
    id,
    ...(groupId === undefined ? {} : { trace_group_id: groupId }),
    ...(lineage === undefined ? {} : { lineage: { ...lineage, checkpoint_id: id, immutable: true } }),
  }) as TraceDetail;

function fork(source: TraceDetail, checkpoint: TraceDetail = source, overrides: Partial<ForkRequest> = {}) {
  let made = 0;
  return forkAt({ source, checkpoint, threadId: undefined, runId: undefined, ...overrides }, () =>
    String((made += 1)).padStart(16, '0'),
  );
}

describe('a fork', () => {
  test('returns the headers that place the next exchange after the checkpoint', () => {
    const source = trace(SOURCE, { group_id: 'g', thread_id: 't', run_id: 'r', checkpoint_seq: 1 });
    const checkpoint = trace(CHECKPOINT, { group_id: 'g', thread_id: 'u', run_id: 's', checkpoint_seq: 4 });
    expect(fork(source, checkpoint)).toEqual({
      fork_id: 'fork_0000000000000002',
      source_trace_id: SOURCE,
      source_checkpoint_id: CHECKPOINT,
      lineage: {
        group_id: 'g',
        thread_id: 'u',
        run_id: 'run_0000000000000001',
        parent_checkpoint_id: CHECKPOINT,
        checkpoint_seq: 5,
      },
      headers: {
        'X-Svc-Trace-Group-ID': 'g',
        'X-Svc-Thread-ID': 'u',
        'X-Svc-Run-ID': 'run_0000000000000001',
        'X-Svc-Parent-Checkpoint-ID': CHECKPOINT,
        'X-Svc-Checkpoint-Seq': '5',
      },
    });
  });

  test.each([
    ['the checkpoint', trace(SOURCE, { group_id: 'g' }), trace(CHECKPOINT, { group_id: 'g' }), 'g'],
    ['else the source', trace(SOURCE, { group_id: 'g' }), trace(CHECKPOINT, {}), 'g'],
    ["else the source's trace_group_id", trace(SOURCE, {}, 'otel'), trace(CHECKPOINT, {}), 'otel'],
    ['else the checkpoint itself', trace(SOURCE, {}), trace(CHECKPOINT, {}), CHECKPOINT],
    ['also where nothing is known', trace(SOURCE, undefined), trace(CHECKPOINT, undefined), CHECKPOINT],
  ])('its group is that of %s', (_name, source, checkpoint, group) => {
    expect(fork(source, checkpoint)?.lineage.group_id).toBe(group);
  });

  test.each([
    ['what was requested', trace(SOURCE, { thread_id: 't' }), trace(CHECKPOINT, { thread_id: 'u' }), 'mine', 'mine'],
    ["the checkpoint's", trace(SOURCE, { thread_id: 't' }), trace(CHECKPOINT, { thread_id: 'u' }), '', 'u'],
    ["the source's", trace(SOURCE, { thread_id: 't' }), trace(CHECKPOINT, {}), undefined, 't'],
    ['a new one', trace(SOURCE, {}), trace(CHECKPOINT, {}), undefined, `thread_${CHECKPOINT}`],
  ])('its thread is %s', (_name, source, checkpoint, threadId, expected) => {
    expect(fork(source, checkpoint, { threadId })?.lineage.thread_id).toBe(expected);
  });

  test.each([
    ['mine', 'mine'],
    ['', 'run_0000000000000001'],
    [undefined, 'run_0000000000000001'],
  ])('its run for %j is %s', (runId, expected) => {
    expect(fork(trace(SOURCE, { run_id: 'old' }), undefined, { runId })?.lineage.run_id).toBe(expected);
  });

  test.each([
    [undefined, 1],
    [0, 1],
    [7, 8],
  ])('after number %j comes %i', (checkpoint_seq, next) => {
    expect(fork(trace(SOURCE, checkpoint_seq === undefined ? {} : { checkpoint_seq }))?.lineage.checkpoint_seq).toBe(next);
  });

  test('a checkpoint of another group is rejected', () => {
    expect(fork(trace(SOURCE, { group_id: 'g' }), trace(CHECKPOINT, { group_id: 'h' }))).toBeUndefined();
  });
});
