import { z } from 'zod';
import { LINEAGE_HEADERS } from './lineage-headers.ts';
import { lineageOf, namedGroupOf } from './replay.ts';
import { traceId } from './field-schemas.ts';
import type { TraceDetail } from './trace.ts';

/** The position of the next exchange of a debug run, and its headers. Spec: G6.14. */
export const fork = z
  .strictObject({
    fork_id: z.string().regex(/^fork_[0-9a-f]{16}$/),
    source_trace_id: traceId,
    source_checkpoint_id: traceId,
    lineage: z.strictObject({
      group_id: z.string(),
      thread_id: z.string(),
      run_id: z.string(),
      parent_checkpoint_id: traceId,
      checkpoint_seq: z.int().min(1),
    }),
    headers: z.strictObject({
      [LINEAGE_HEADERS.trace_group_id]: z.string(),
      [LINEAGE_HEADERS.thread_id]: z.string(),
      [LINEAGE_HEADERS.run_id]: z.string(),
      [LINEAGE_HEADERS.parent_checkpoint_id]: traceId,
      [LINEAGE_HEADERS.checkpoint_seq]: z.string().regex(/^[1-9]\d{0,14}$/),
    }),
  })
  .meta({ id: 'Fork', description: 'Position of the next exchange of a debug run, and the headers that set it.' });
export type Fork = z.infer<typeof fork>;

export interface ForkRequest {
  readonly source: TraceDetail;
  readonly checkpoint: TraceDetail;
  /** Override the checkpoint's thread and a new run; '' counts as absent. */
  readonly threadId: string | undefined;
  readonly runId: string | undefined;
}

/** Forks a conversation at a checkpoint: returns how to send the next exchange, and changes nothing. Undefined when checkpoint and
 *  source belong to different groups named by clients. `randomHex` returns 16 digits.
 *  Spec: G6.16, G6.17, G6.19. */
export function forkAt({ source, checkpoint, threadId, runId }: ForkRequest, randomHex: () => string): Fork | undefined {
  const from = lineageOf(checkpoint);
  const own = lineageOf(source);
  const [named, ownNamed] = [namedGroupOf(checkpoint), namedGroupOf(source)];
  if (named !== undefined && ownNamed !== undefined && named !== ownNamed) return undefined;
  const place = {
    group_id: from.group_id ?? own.group_id ?? source.trace_group_id ?? checkpoint.id,
    thread_id: threadId || (from.thread_id ?? own.thread_id ?? `thread_${checkpoint.id}`),
    run_id: runId || `run_${randomHex()}`,
    parent_checkpoint_id: checkpoint.id,
    checkpoint_seq: (from.checkpoint_seq ?? 0) + 1,
  };
  return {
    fork_id: `fork_${randomHex()}`,
    source_trace_id: source.id,
    source_checkpoint_id: checkpoint.id,
    lineage: place,
    headers: {
      [LINEAGE_HEADERS.trace_group_id]: place.group_id,
      [LINEAGE_HEADERS.thread_id]: place.thread_id,
      [LINEAGE_HEADERS.run_id]: place.run_id,
      [LINEAGE_HEADERS.parent_checkpoint_id]: place.parent_checkpoint_id,
      [LINEAGE_HEADERS.checkpoint_seq]: String(place.checkpoint_seq),
    },
  };
}
