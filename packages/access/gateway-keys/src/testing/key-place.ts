import { readAuditCursor } from '../audit-cursor.ts';
import type { AuditQuery, ListedAuditEvent } from '../audit-event-page.ts';
import type { AuditLog } from '../audit-log.ts';
import type { KeyStore } from '../key-store.ts';

export type OpenedKeyStore = KeyStore & AuditLog & AsyncDisposable;

/** An empty place for keys. Each `open` is the store of another process. */
export interface KeyPlace extends AsyncDisposable {
  open(): OpenedKeyStore;
}

/** All pages of a query; only the last may be short, and only the first empty. */
export async function allAuditEvents(log: AuditLog, query: AuditQuery): Promise<ListedAuditEvent[]> {
  const items: ListedAuditEvent[] = [];
  let after = query.after;
  do {
    const page = await log.listAudit({ ...query, after });
    if (page.next_cursor !== undefined && page.items.length !== query.limit) throw new Error('a page before the last is short');
    items.push(...page.items);
    after = page.next_cursor === undefined ? undefined : readAuditCursor(page.next_cursor);
  } while (after !== undefined);
  return items;
}
