import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AUDIT_ACTIONS, AUDIT_OUTCOMES, readAuditCursor, type AuditQuery, type ListedAuditEvent } from '../audit-event-page.ts';
import type { AuditEvent } from '../audit-event.ts';
import { SqliteKeyStore } from './sqlite-key-store.ts';

const org_id = fc.constantFrom('a', 'b', '');
const workspace_id = fc.constantFrom('w', 'v', '');
const actor = fc.constantFrom('k1', 'k2', 'system', '');
const action = fc.constantFrom(...AUDIT_ACTIONS);
const outcome = fc.constantFrom(...AUDIT_OUTCOMES);
// Few moments, so that many events share one.
const at = fc.integer({ min: 1, max: 6 });
const event: fc.Arbitrary<AuditEvent> = fc.record({
  at,
  actor,
  action,
  target: fc.constant('t'),
  outcome,
  reason: fc.constant(''),
  correlation_id: fc.constant('c'),
  org_id,
  workspace_id,
});
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const filters = fc.record({
  org_id: maybe(org_id),
  workspace_id: maybe(workspace_id),
  actor: maybe(actor),
  action: maybe(action),
  outcome: maybe(outcome),
  from: maybe(at),
  to: maybe(at),
});

test('the pages of any question are what a plain scan finds, newest first, each once', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), filters, fc.integer({ min: 1, max: 7 }), (events, wanted, limit) => {
      using store = new SqliteKeyStore(':memory:');
      store.appendAudit(events);
      const { from = 0, to = 10, ...fields } = wanted;
      const isMeant = (one: AuditEvent) =>
        one.at >= from &&
        one.at <= to &&
        Object.entries(fields).every(([name, value]) => value === undefined || one[name as keyof AuditEvent] === value);
      const expected = events
        .map((one, i) => ({ one, id: i + 1 }))
        .filter(({ one }) => isMeant(one))
        .toSorted((left, right) => right.one.at - left.one.at || right.id - left.id)
        .map(({ id }) => String(id));
      expect(allPages(store, { ...wanted, limit }).map(({ id }) => id)).toEqual(expected);
    }),
  );
});

function allPages(store: SqliteKeyStore, query: AuditQuery): ListedAuditEvent[] {
  const items: ListedAuditEvent[] = [];
  let after: AuditQuery['after'];
  do {
    const page = store.listAudit({ ...query, after });
    // Only the last page may be short, and none is empty but the first.
    if (page.next_cursor !== undefined) expect(page.items).toHaveLength(query.limit);
    items.push(...page.items);
    after = page.next_cursor === undefined ? undefined : readAuditCursor(page.next_cursor);
  } while (after !== undefined);
  return items;
}
