import { Fault, messageOf } from '@vitrine/faults/fault';

export function keyStoreUnavailable(path: string, cause: unknown): Fault {
  const reason = messageOf(cause);
  return new Fault('key_store_unavailable', { say: 'gateway key store is unavailable', log: { path, reason }, cause });
}
