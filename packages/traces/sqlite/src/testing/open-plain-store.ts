import { DerivationThread } from '@vitrine/trace-derivation/derivation-thread';
import { PLAIN_POLICY } from '@vitrine/trace-derivation/testing/plain-exchange';
import { openEmbeddedTraceStore, sqliteWriter, type EmbeddedTraceStore } from '../embedded-trace-store.ts';

/** A store whose thread derives without bodies and without redaction. */
export function openPlainStore(path: string): Promise<EmbeddedTraceStore> {
  const writes = new DerivationThread({ policy: PLAIN_POLICY, priceOverride: undefined, writer: sqliteWriter(path) });
  return openEmbeddedTraceStore(path, writes);
}
