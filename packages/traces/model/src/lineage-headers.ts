import { headerOf } from '@vitrine/privacy/header-lines';

/** The position of an exchange in a conversation, as claimed by its client. Spec: G6.1, G6.2, G6.4. */
export interface LineageClaim {
  /** Whether the group was not named by the client but taken from its `traceparent`. Such a group is only a label for lists and does not separate
   *  conversations, because each exchange of a conversation may have another. */
  readonly group_fallback?: boolean;
  readonly trace_group_id?: string;
  readonly thread_id?: string;
  readonly run_id?: string;
  readonly parent_checkpoint_id?: string;
  readonly checkpoint_seq?: number;
}

/** The five headers that carry it; the proxy strips them before the upstream, like every `X-Svc-*` header. */
export const LINEAGE_HEADERS = {
  trace_group_id: 'X-Svc-Trace-Group-ID',
  thread_id: 'X-Svc-Thread-ID',
  run_id: 'X-Svc-Run-ID',
  parent_checkpoint_id: 'X-Svc-Parent-Checkpoint-ID',
  checkpoint_seq: 'X-Svc-Checkpoint-Seq',
} as const;

const FIELDS = Object.entries(LINEAGE_HEADERS) as [keyof LineageClaim, string][];
/** The highest sequence number that is kept. */
export const LAST_CHECKPOINT_SEQ = 999_999_999_999_999;
/** The format of a lineage id. */
export const LINEAGE_ID = /^[A-Za-z0-9\-_.:]{1,128}$/;

/** Reads the claim. An invalid value (not at most 128 characters of `A-Za-z0-9-_.:`, or not a whole number for the sequence) is omitted and
 *  counted in `ignored`. `hide` redacts what must not be stored of an id. */
export function readLineage(lines: string, hide: (value: string) => string): { claim: LineageClaim; ignored: number } {
  const claim: Record<string, string | number> = {};
  let ignored = 0;
  for (const [field, header] of FIELDS) {
    const value = headerOf(lines, header.toLowerCase());
    if (value === undefined || value === '') continue;
    const number = field === 'checkpoint_seq' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
    if (number !== undefined) claim[field] = number;
    else if (field !== 'checkpoint_seq' && LINEAGE_ID.test(value)) claim[field] = hide(value);
    else ignored += 1;
  }
  return { claim, ignored };
}
