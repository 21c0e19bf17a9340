import { boundedText } from '@vitrine/config/bounded-text';
import { Fault } from '@vitrine/faults/fault';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { fork, forkAt } from '@vitrine/traces/fork';
import { LAST_CHECKPOINT_SEQ, LINEAGE_ID } from '@vitrine/traces/lineage-headers';
import { readReplay, replay } from '@vitrine/traces/replay';
import { tenantOf, type TraceDetail } from '@vitrine/traces/trace';
import type { TraceStore } from '@vitrine/traces/trace-store';
import { integer, text } from '@vitrine/http-api/requests/query-shapes';
import { z } from 'zod';
import { operation, type AdminRoute } from '../http/admin-route.ts';
import { findTrace, readTrace, traceParams } from './traces-route.ts';

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 500;

/** Spec: G6.7. */
const replayQuery = z.strictObject({
  checkpoint_id: text().describe('Where to stop; the trace itself when absent.'),
  thread_id: text().describe("The thread to replay, instead of the trace's own."),
  run_id: text().describe("The run to replay, instead of the trace's own."),
  limit: integer(0, MAX_LIMIT).describe('How many checkpoints to read at most; 0 or absent: 200.'),
});

const lineageId = z
  .string()
  .trim()
  .refine((id) => id === '' || LINEAGE_ID.test(id), 'must be at most 128 characters of A-Za-z0-9-_.:')
  .meta({ pattern: '^\\s*[A-Za-z0-9\\-_.:]{0,128}\\s*$' })
  .optional();

/** Spec: G6.15, G6.18. */
const forkBody = z
  .strictObject({
    checkpoint_id: boundedText(1_024).trim().optional().describe('Where to branch off; the trace itself when absent.'),
    thread_id: lineageId.describe("The new run's thread, instead of the checkpoint's."),
    run_id: lineageId.describe("The new run's id; generated when absent."),
  })
  .meta({ id: 'ForkRequest', description: 'Where to branch off; an empty body means {}.' });

/** `GET /api/traces/:id/replay` and `POST /api/traces/:id/fork`. `randomHex` gives 16 digits. Spec: G2.6, G2.7, G6.12, G6.13. */
export function lineageRoutes(store: TraceStore, randomHex: () => string): AdminRoute[] {
  return [
    {
      path: '/api/traces/:id/replay',
      params: traceParams,
      GET: operation({
        summary: 'Replays the conversation of a trace up to one of its checkpoints.',
        permission: 'analytics:read',
        query: replayQuery,
        status: 200,
        response: replay,
        errors: [404, 503],
        handle: async ({ params, query, identity }) => {
          const source = await readTrace(store, params['id'], identity);
          const tenant = tenantOf(source);
          const replayed = await readReplay(store, {
            source,
            target: await readCheckpoint(store, query.checkpoint_id, source, tenant),
            threadId: query.thread_id,
            runId: query.run_id,
            tenant,
            limit: query.limit || DEFAULT_LIMIT,
          });
          return replayed ?? noCheckpoint();
        },
      }),
    },
    {
      path: '/api/traces/:id/fork',
      params: traceParams,
      POST: operation({
        summary: 'Returns the headers that branch a conversation off at a checkpoint; changes nothing.',
        permission: 'analytics:read',
        body: {
          shape: forkBody,
          maxBytes: 16_384,
          tooLarge: 'fork request body too large',
          invalid: 'invalid fork request body',
        },
        status: 200,
        response: fork,
        errors: [404, 503],
        handle: async ({ params, body, identity }) => {
          const source = await readTrace(store, params['id'], identity);
          const checkpoint = await readCheckpoint(store, body.checkpoint_id, source, tenantOf(source));
          const forked = forkAt({ source, checkpoint, threadId: body.thread_id, runId: body.run_id }, randomHex);
          if (forked === undefined)
            throw new Fault('foreign_checkpoint', { say: 'checkpoint must belong to the same trace lineage group' });
          // Otherwise the gateway would ignore the header that it returned.
          if (forked.lineage.checkpoint_seq > LAST_CHECKPOINT_SEQ)
            throw new Fault('last_checkpoint', { say: 'checkpoint has the highest possible sequence number' });
          return forked;
        },
      }),
    },
  ];
}

/** Limited to the trace's tenant, also with authentication off: another tenant may use the same conversation ids. */
async function readCheckpoint(
  store: TraceStore,
  id: string | undefined,
  source: TraceDetail,
  tenant: Tenant,
): Promise<TraceDetail> {
  if (id === undefined || id === '' || id === source.id) return source;
  return (await findTrace(store, id, tenant)) ?? noCheckpoint();
}

function noCheckpoint(): never {
  throw new Fault('checkpoint_not_found', { say: 'checkpoint not found' });
}
