import { expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import type { AuditLog } from '../audit-log.ts';
import type { KeyStore } from '../key-store.ts';
import { allAuditEvents, type KeyPlace, type OpenedKeyStore } from './key-place.ts';
import { A, auditEvent, hashOf, newKey, storedHashOf, T0 } from './key-rows.ts';
import { StatementFailures } from './statement-failures.ts';

type PortMethod = Exclude<keyof KeyStore | keyof AuditLog, 'watch' | 'advanceRetention'>;
type Step = (store: OpenedKeyStore) => Promise<unknown>;

/** Every method of the ports, changes first; each must be possible again after it has failed. A method without a step does not compile. */
const STEPS_OF: { readonly [Method in PortMethod]: readonly Step[] } = {
  create: [(store) => createKey(store, 'a', 'first'), (store) => createKey(store, 'b', 'second')],
  update: [
    (store) => store.update('a', A, { token: [hashOf('third'), hashOf('third', 2)] }, auditEvent({ target: 'a', at: T0 + 1 })),
    (store) => store.update('b', A, { revoked_at: T0 + 2 }, auditEvent({ target: 'b', at: T0 + 2 })),
  ],
  keepTokens: [(store) => store.keepTokens(['file-1', 'file-2'].map((id) => ({ id, known: [hashOf(id), hashOf(id, 2)] })))],
  markUsed: [(store) => store.markUsed(['a', 'none'].map((id) => ({ id, at: T0 + 3 })))],
  moveTokens: [(store) => store.moveTokens([{ id: 'a', from: storedHashOf('third'), to: hashOf('third', 2) }])],
  recordPeppers: [(store) => store.recordPeppers([hashOf('', 3)])],
  appendAudit: [(store) => store.appendAudit(['x', 'y', 'z'].map((target) => auditEvent({ target, at: T0 - 1 })))],
  removeAuditBefore: [(store) => store.removeAuditBefore(T0)],
  list: [(store) => store.list(A)],
  find: [(store) => store.find('a', A)],
  hasId: [(store) => store.hasId('b')],
  changes: [(store) => store.changes(0)],
  storedPeppers: [(store) => store.storedPeppers()],
  listAudit: [(store) => store.listAudit({ limit: 2 })],
};
const STEPS: readonly Step[] = [
  ...Object.values(STEPS_OF).flat(),
  // Every token that a key had, or that was reserved, is taken, however often it was tried to store it.
  (store) => createKey(store, 'c', 'first'),
  (store) => createKey(store, 'c', 'file-2'),
];

/** The visible state of the ports, without numbers that a store may choose freely. */
async function stateOf(store: OpenedKeyStore) {
  const rows = await store.list(undefined);
  const { active, revision } = await store.changes(0);
  const events = await allAuditEvents(store, { limit: 200 });
  return {
    keys: rows.map(({ revision: _any, ...row }) => row),
    newest: rows.filter((row) => row.revision === revision).map(({ id }) => id),
    followed: active.map(({ id }) => id).toSorted(),
    revoked: (await store.hasId('b')) && (await store.find('b', A)) === undefined,
    events: events.map(({ id: _any, ...event }) => event),
  };
}

/** A store in which every n-th statement fails, for every n: the call in progress is a fault, has changed nothing, and succeeds when repeated.
 *  `openPlace` calls `failures.statement` before each statement. */
export function testKeyStoreFailures(openPlace: (failures: StatementFailures) => Promise<KeyPlace>): void {
  test('whichever statement fails, its call is a fault without changes, and the store continues', async () => {
    const expected = await statesWithoutFailure(() => openPlace(new StatementFailures(Number.POSITIVE_INFINITY)));
    let failAt = 1;
    while (await failsOnce(failAt)) failAt += 1;
    // Each step has at least one statement, and a change has several.
    expect(failAt).toBeGreaterThan(2 * STEPS.length);

    async function failsOnce(n: number): Promise<boolean> {
      const failures = new StatementFailures(n);
      await using place = await openPlace(failures);
      await using store = place.open();
      for (const [i, step] of STEPS.entries()) {
        const error: unknown = await step(store).then(
          () => undefined,
          (caught: unknown) => caught,
        );
        if (error === undefined) continue;
        expect({ n, step: i, code: codeOf(error) }).toEqual({ n, step: i, code: 'key_store_unavailable' });
        expect({ n, step: i, state: await stateOf(store) }).toEqual({ n, step: i, state: expected[i] });
        await step(store);
        expect({ n, step: i, state: await stateOf(store) }).toEqual({ n, step: i, state: expected[i + 1] });
      }
      const { hasFailed } = failures;
      if (hasFailed) expect({ n, state: await stateOf(store) }).toEqual({ n, state: expected.at(-1) });
      return hasFailed;
    }
  }, 180_000);
}

/** The state before the first step, and after each. */
async function statesWithoutFailure(openPlace: () => Promise<KeyPlace>) {
  await using place = await openPlace();
  await using store = place.open();
  const states = [await stateOf(store)];
  for (const step of STEPS) {
    await step(store);
    states.push(await stateOf(store));
  }
  return states;
}

function createKey(store: OpenedKeyStore, id: string, token: string) {
  const key = newKey(id, hashOf(token));
  return store.create(key, [key, hashOf(token, 2)], auditEvent({ target: id }), [hashOf(id)]);
}
