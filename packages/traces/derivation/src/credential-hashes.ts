import { hash } from 'node:crypto';

/** A gateway sees the same few provider credentials repeatedly, and a hash costs a microsecond. */
const REMEMBERED_MAX = 4_096;

/** SHA-256 of provider credentials, the newest 4,096 remembered. */
export function createCredentialHashes(): (credential: string) => Uint8Array<ArrayBuffer> {
  const known = new Map<string, Uint8Array<ArrayBuffer>>();
  return (credential) => {
    const remembered = known.get(credential);
    if (remembered !== undefined) return remembered;
    const made = new Uint8Array(hash('sha256', credential, 'buffer'));
    if (known.size >= REMEMBERED_MAX) known.clear();
    known.set(credential, made);
    return made;
  };
}
