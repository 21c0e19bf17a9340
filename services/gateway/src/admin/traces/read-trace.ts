import { Fault } from '@vitrine/faults/fault';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { TraceDetail } from '@vitrine/traces/trace';
import type { TraceStore } from '@vitrine/traces/trace-store';
import { z } from 'zod';

const TRACE_ID = /^[0-9a-f]{32}$/;
/** The parameter of a path below `/api/traces`. */
export const traceParams = z.object({ id: z.string().regex(TRACE_ID).describe('The id of a trace.') });

/** The trace with an id that a client sent. Faults: `trace_not_found`, `trace_store_unavailable`. */
export async function readTrace(store: TraceStore, id: string | undefined, tenant: Tenant | undefined): Promise<TraceDetail> {
  const trace = await findTrace(store, id ?? '', tenant);
  if (trace === undefined) throw new Fault('trace_not_found', { say: 'trace not found' });
  return trace;
}

/** The same, or undefined where there is none. Faults: `trace_store_unavailable`. */
export async function findTrace(store: TraceStore, id: string, tenant: Tenant | undefined): Promise<TraceDetail | undefined> {
  return TRACE_ID.test(id) ? store.get(id, tenant) : undefined;
}
