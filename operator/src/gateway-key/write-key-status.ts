import { API_VERSION } from '../custom-resources/custom-resource.ts';
import type { ApiRequests } from '../runtime/kubernetes-client.ts';
import type { EventRecorder, EventSubject } from '../runtime/event-recorder.ts';
import { mergeStatus } from '../runtime/object-requests.ts';
import type { Settled } from './decide-key.ts';
import { gatewayKeyPath, type GatewayKeyObject } from './gateway-key-resource.ts';
import { keyStatus, statusChange, statusEvent } from './key-status.ts';
import type { ObservedKey } from './observed-key.ts';

interface StatusWriter {
  readonly server: ApiRequests;
  readonly events: EventRecorder;
}

/** Writes the status where it differs from the last one, and records an event where it says something new. */
export async function writeKeyStatus(
  observed: ObservedKey,
  settled: Settled,
  { server, events }: StatusWriter,
  signal: AbortSignal,
): Promise<void> {
  const { object } = observed;
  const change = statusChange(object.status ?? {}, keyStatus(observed, settled));
  if (change === undefined) return;
  await mergeStatus(server, gatewayKeyPath(object), change, object.metadata.resourceVersion, signal);
  const event = statusEvent(observed, settled);
  if (event !== undefined) events.record(eventSubject(object), event);
}

export function eventSubject({ metadata: { name, namespace, uid, resourceVersion } }: GatewayKeyObject): EventSubject {
  return { apiVersion: API_VERSION, kind: 'GatewayKey', metadata: { name, namespace, uid, resourceVersion } };
}
