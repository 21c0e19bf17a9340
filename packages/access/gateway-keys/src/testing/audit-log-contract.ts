import { afterEach, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AUDIT_ACTIONS, AUDIT_OUTCOMES, type AuditFilters } from '../audit-event-page.ts';
import type { AuditEvent, AuditLog } from '../audit-log.ts';
import type { KeyBounds } from '../key-store.ts';
import { allAuditEvents, type KeyPlace, type OpenedKeyStore } from './key-place.ts';
import { A, auditEvent, B, hashOf, newKey, T0 } from './key-rows.ts';

const org_id = fc.constantFrom('a', 'b', '');
const workspace_id = fc.constantFrom('w', 'v', '');
const actor = fc.constantFrom('k1', 'k2', 'system', '');
const action = fc.constantFrom(...AUDIT_ACTIONS);
const outcome = fc.constantFrom(...AUDIT_OUTCOMES);
// Few distinct times, so that many events share one.
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
} satisfies { readonly [Name in keyof Required<AuditFilters> | 'org_id' | 'workspace_id']: fc.Arbitrary<unknown> });

/** Oldest first, as they were appended. */
const eventsOf = async (log: AuditLog) => (await allAuditEvents(log, { limit: 200 })).toReversed();
const targetsOf = async (log: AuditLog) => (await eventsOf(log)).map(({ target }) => target);

/** The promises of `AuditLog`, and those of `KeyStore` about it. */
export function testAuditLog(openPlace: (bounds?: KeyBounds) => Promise<KeyPlace>): void {
  let place: KeyPlace;
  let store: OpenedKeyStore;
  beforeEach(async () => {
    place = await openPlace({ maxDenials: 3 });
    store = place.open();
  });
  afterEach(async () => {
    await store[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });

  test('a change of a key appends one event, and a rejected change appends none', async () => {
    const key = newKey('a');
    await store.create(key, [key], auditEvent({ target: 'a', at: T0 }));
    await store.create(key, [key], auditEvent({ target: 'a', at: T0 }));
    const rotation = auditEvent({ action: 'gateway_key.rotate', target: 'a', at: T0 + 1 });
    await store.update('a', A, { token: [hashOf('new')] }, rotation);
    await store.update('none', A, { token: [hashOf('newer')] }, rotation);
    const revocation = auditEvent({ action: 'gateway_key.revoke', target: 'a', at: T0 + 2 });
    await store.update('a', B, { revoked_at: T0 }, revocation);
    await store.update('a', A, { revoked_at: T0 }, revocation);
    expect((await eventsOf(store)).map((one) => [one.action, one.target, one.outcome])).toEqual([
      ['gateway_key.create', 'a', 'allow'],
      ['gateway_key.rotate', 'a', 'allow'],
      ['gateway_key.revoke', 'a', 'allow'],
    ]);
  });

  test('old events and the oldest denials beyond their bound are removed; changes stay', async () => {
    const denied = [1, 2, 3, 4, 5].map((n) => auditEvent({ target: `denied ${n}`, outcome: 'deny', at: T0 + n }));
    await store.appendAudit([auditEvent({ target: 'old', at: T0 - 1 }), auditEvent({ target: 'change' }), ...denied]);
    expect(await store.removeAuditBefore(T0)).toEqual([
      { what: 'audit_events', count: 1, oldest: T0 - 1, newest: T0 - 1 },
      { what: 'audit_events', count: 2, oldest: T0 + 1, newest: T0 + 2 },
    ]);
    expect(await store.removeAuditBefore(T0)).toEqual([]);
    expect(await targetsOf(store)).toEqual(['change', 'denied 3', 'denied 4', 'denied 5']);
  });

  test('denials of unknown callers displace none of a known caller, and requests of one no rejected change', async () => {
    const denied = (by: string, what: AuditEvent['action'], target: string) =>
      auditEvent({ actor: by, action: what, target, outcome: 'deny' });
    await store.appendAudit([
      denied('k', 'gateway_key.create', 'rejected change'),
      denied('k', 'request', 'rejected request'),
      ...Array.from({ length: 20 }, (_, i) => denied('', 'request', `unknown ${i}`)),
    ]);
    while ((await store.removeAuditBefore(T0)).length > 0);
    const unknown = ['unknown 17', 'unknown 18', 'unknown 19'];
    expect(await targetsOf(store)).toEqual(['rejected change', 'rejected request', ...unknown]);
    await store.appendAudit(Array.from({ length: 20 }, (_, i) => denied('k', 'request', `known ${i}`)));
    while ((await store.removeAuditBefore(T0)).length > 0);
    expect(await targetsOf(store)).toEqual(['rejected change', ...unknown, 'known 17', 'known 18', 'known 19']);
  });

  test('a filter may have any text', async () => {
    await store.appendAudit([auditEvent({ target: 'a', at: T0 })]);
    expect(await allAuditEvents(store, { actor: '\0', limit: 200 })).toEqual([]);
  });

  test('removal from an empty store removes nothing', async () => {
    expect(await store.removeAuditBefore(T0)).toEqual([]);
  });
}

/** `numRuns`: places to open. */
export function testAuditPages(openPlace: () => Promise<KeyPlace>, numRuns: number): void {
  test('the pages of any query equal a plain scan, newest first, each event once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 60 }),
        filters,
        fc.integer({ min: 1, max: 7 }),
        async (events, wanted, limit) => {
          await using ownPlace = await openPlace();
          await using own = ownPlace.open();
          await own.appendAudit(events.map((one, i) => ({ ...one, target: String(i) })));
          const { from = 0, to = 10, ...fields } = wanted;
          const isMeant = (one: AuditEvent) =>
            one.at >= from &&
            one.at <= to &&
            Object.entries(fields).every(([name, value]) => value === undefined || one[name as keyof AuditEvent] === value);
          const expected = events
            .map((one, i) => ({ one, i }))
            .filter(({ one }) => isMeant(one))
            .toSorted((left, right) => right.one.at - left.one.at || right.i - left.i)
            .map(({ i }) => String(i));
          expect((await allAuditEvents(own, { ...wanted, limit })).map(({ target }) => target)).toEqual(expected);
        },
      ),
      { numRuns },
    );
  });
}
