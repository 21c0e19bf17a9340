import type { ScanRequest } from '@vitrine/stores/scans/queue-scans';
import { z } from 'zod';

const MAX_BYTES = 4_096;

const shape = z.object({ scan_job_id: z.string().regex(/^job_[0-9a-z]{26}$/), domain: z.string().min(3).max(253) });

/** Decodes a message of the scan topics. Undefined for a malformed message. Unknown fields are ignored. */
export function decodeScanRequest(value: Uint8Array | null): ScanRequest | undefined {
  if (value === null || value.length > MAX_BYTES) return undefined;
  try {
    return shape.safeParse(JSON.parse(Buffer.from(value).toString())).data;
  } catch {
    return undefined;
  }
}
