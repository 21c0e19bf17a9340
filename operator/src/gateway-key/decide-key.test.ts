import { expect, test } from '@jest/globals';
import type { TokenHash } from '@vitrine/credentials/token-hashes';
import type { ManagedKey, ManagedKeyFields } from '@vitrine/gateway-keys/managed-key';
import { PERMISSIONS } from '@vitrine/gateway-keys/permission';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import fc from 'fast-check';
import { decideKey, isSettled, type KeyAction, rotationDueAt, type Settled } from './decide-key.ts';
import { FINALIZER, type GatewayKeyObject } from './gateway-key-resource.ts';
import { gatewayKeySpec } from './gateway-key-spec.ts';
import type { ObservedKey, ObservedSecret } from './observed-key.ts';

// A model of one key: tokens are numbers, and a hash is the number's text. From any possible state, also after crashes, the steps must
// end and keep the guarantees for clients.

const [UID, OTHER, MAX_STEPS] = ['own', 'other', 10];
const FIELDS: ManagedKeyFields = {
  org_id: 'acme',
  workspace_id: 'search',
  name: 'ci',
  description: undefined,
  role: 'viewer',
  permissions: [],
  plan: undefined,
  managed_resource: 'GatewayKey team-a/ci',
};

interface Row {
  owner: string | undefined;
  isRevoked: boolean;
  isSame: boolean;
  token: number;
  next: number | undefined;
}
interface Secret {
  isOwn: boolean;
  isDescribed: boolean;
  handledRotation: string | undefined;
  /** 0: not a valid token. */
  token: number;
}
interface World {
  isDeleted: boolean;
  hasFinalizer: boolean;
  rotate: string | undefined;
  /** `Retain` is in no release. */
  deletionPolicy: 'Revoke' | 'Orphan' | 'Retain';
  row: Row | undefined;
  secret: Secret | undefined;
  /** The staged token in this process. */
  staged: number | undefined;
  tokens: number;
}

const token = fc.integer({ min: 1, max: 4 });
const rowOf = (owner: fc.Arbitrary<string | undefined>) =>
  fc.record({
    owner,
    isRevoked: fc.boolean(),
    isSame: fc.boolean(),
    token,
    next: fc.option(fc.integer({ min: 5, max: 8 }), { nil: undefined }),
  });
const world = fc.record({
  isDeleted: fc.boolean(),
  hasFinalizer: fc.boolean(),
  rotate: fc.option(fc.constantFrom('1', '2'), { nil: undefined }),
  deletionPolicy: fc.constantFrom('Revoke' as const, 'Orphan' as const, 'Retain' as const),
  row: fc.option(rowOf(fc.constantFrom(UID, UID, UID, OTHER, undefined)), { nil: undefined }),
  secret: fc.option(
    fc.record({
      isOwn: fc.oneof({ arbitrary: fc.constant(true), weight: 3 }, { arbitrary: fc.constant(false), weight: 1 }),
      isDescribed: fc.boolean(),
      handledRotation: fc.option(fc.constantFrom('1', '2'), { nil: undefined }),
      token: fc.integer({ min: 0, max: 8 }),
    }),
    { nil: undefined },
  ),
  staged: fc.constant(undefined),
  tokens: fc.constant(100),
});

const hashOf = (token: number): TokenHash => ({ pepper_version: 1, hash: Buffer.from(String(token)) }) as unknown as TokenHash;

function tokenState({ token }: Secret, row: Row | undefined): ObservedSecret['token'] {
  if (token === 0) return 'malformed';
  if (row === undefined) return 'other';
  return token === row.token ? 'current' : token === row.next ? 'next' : 'other';
}

function observe({ isDeleted, hasFinalizer, rotate, deletionPolicy, row, secret, staged }: World): ObservedKey {
  const object: GatewayKeyObject = {
    metadata: {
      name: 'ci',
      namespace: 'team-a',
      uid: UID,
      resourceVersion: '1',
      generation: 1,
      finalizers: hasFinalizer ? [FINALIZER] : [],
      ...(isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      ...(rotate !== undefined && { annotations: { 'vitrine.dev/rotate': rotate } }),
    },
    spec: { deletionPolicy },
  };
  const managed: ManagedKey | undefined = row && {
    ...FIELDS,
    ...(!row.isSame && { role: 'developer' }),
    id: 'gk_1',
    owner_uid: row.owner,
    managed_resource: row.owner === undefined ? undefined : FIELDS.managed_resource,
    isRevoked: row.isRevoked,
    token: hashOf(row.token),
    pepper_fingerprint: undefined,
    next: row.next === undefined ? undefined : hashOf(row.next),
  };
  return {
    object,
    keyId: 'gk_1',
    spec:
      isDeleted && deletionPolicy === 'Retain'
        ? { reason: 'InvalidSpec', message: '' }
        : gatewayKeySpec.parse({ role: 'viewer' }),
    tenant: { tenant: FIELDS, ceiling: new Set(PERMISSIONS), isTerminating: false },
    secret: secret && {
      ...secret,
      isOrphan: false,
      prefix: '',
      token: tokenState(secret, row),
      rotatedAt: 0,
      handledTrigger: undefined,
    },
    row: managed,
    fields: FIELDS,
    isPepperKnown: true,
    hasPlan: true,
    stagedAt: staged !== undefined && staged === row?.next ? 0 : undefined,
    problem: undefined,
    now: 1,
    propagationMs: 0,
  };
}

const made = (world: World): number => (world.tokens += 1);
const ownRow = ({ row }: World): Row => {
  expect(row?.owner).toBe(UID);
  return row as Row;
};
function writeSecret(world: World, token: number): void {
  // Never written for other owners.
  expect(world.secret?.isOwn ?? true).toBe(true);
  world.secret = { isOwn: true, isDescribed: true, handledRotation: world.rotate, token };
}

/** Like key-actions.ts and the rows. */
const ACTIONS: Readonly<Record<KeyAction, (world: World) => void>> = {
  addFinalizer: (world) => (world.hasFinalizer = true),
  createSecret: (world) => {
    expect(world.secret).toBeUndefined();
    writeSecret(world, made(world));
  },
  describeSecret: (world) => {
    expect(world.secret?.isOwn).toBe(true);
    if (world.secret !== undefined) world.secret.isDescribed = true;
  },
  register: (world) => {
    expect([world.row, world.hasFinalizer]).toEqual([undefined, true]);
    world.row = { owner: UID, isRevoked: false, isSame: true, token: world.secret?.token ?? 0, next: undefined };
  },
  adopt: () => {
    throw new Error('adoption is not asked for');
  },
  update: (world) => (ownRow(world).isSame = true),
  stageToken: (world) => (world.staged = ownRow(world).next = made(world)),
  publishToken: (world) => writeSecret(world, world.row === undefined ? made(world) : (world.staged ?? 0)),
  promoteToken: (world) => {
    const row = ownRow(world);
    Object.assign(row, { token: row.next, next: undefined, isRevoked: false });
    world.staged = undefined;
  },
  replaceToken: () => {
    throw new Error('the token is not given');
  },
  revoke: (world) => (ownRow(world).isRevoked = true),
  orphan: (world) => (ownRow(world).owner = undefined),
  removeFinalizer: (world) => (world.hasFinalizer = false),
};

const isAccepted = ({ row, secret }: World) =>
  row !== undefined && secret !== undefined && secret.isOwn && !row.isRevoked && [row.token, row.next].includes(secret.token);

/** Steps until nothing is left to do. A crash after a step loses the state of the process. */
function converge(world: World, crashesAt: ReadonlySet<number>): Settled | 'gone' {
  const isRowOfOthers = world.row !== undefined && world.row.owner !== UID;
  const before = JSON.stringify(world.row);
  for (let steps = 0; steps < MAX_STEPS + 2 * crashesAt.size; steps += 1) {
    const step = decideKey(observe(world));
    if (step === undefined) return 'gone';
    if (isSettled(step)) {
      if (isRowOfOthers) expect(JSON.stringify(world.row)).toBe(before);
      return step;
    }
    const wasAccepted = isAccepted(world);
    if (step.action === 'removeFinalizer' && world.row?.owner === UID) expect(world.row.isRevoked).toBe(true);
    ACTIONS[step.action](world);
    // The token in the Secret keeps working after any step.
    if (wasAccepted && !world.isDeleted) expect([step.action, isAccepted(world)]).toEqual([step.action, true]);
    if (step.action === 'removeFinalizer') return 'gone';
    if (crashesAt.has(steps)) world.staged = undefined;
  }
  throw new Error(`not settled after ${MAX_STEPS} steps: ${JSON.stringify(world)}`);
}

test('from any state, also after crashes, the steps end: ready with an accepted token, stalled, or gone and revoked or kept', () => {
  const property = fc.property(world, fc.uniqueArray(fc.nat({ max: 8 }), { maxLength: 3 }), (start, crashes) => {
    const world = structuredClone(start);
    const end = converge(world, new Set(crashes));
    if (start.isDeleted) {
      expect([end, world.hasFinalizer]).toEqual(['gone', false]);
      // A key kept by another policy must not be revoked.
      if (start.deletionPolicy !== 'Revoke') expect(world.row?.isRevoked).toBe(start.row?.isRevoked);
      return;
    }
    if (end === 'gone') throw new Error('a key that is not deleted is left alone');
    if (end.isStalled === true) {
      // Only a row or Secret of another owner.
      expect([world.row?.owner !== UID && world.row !== undefined, world.secret?.isOwn === false]).toContain(true);
      expect(end.ready.status).toBe('False');
      return;
    }
    expect(end.ready.status).toBe('True');
    expect([isAccepted(world), world.row?.isSame, world.secret?.isDescribed, world.hasFinalizer]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(world.rotate === undefined || world.secret?.handledRotation === world.rotate).toBe(true);
    // Deciding again has no effect.
    expect(decideKey(observe(world))).toMatchObject({ ready: { status: 'True' } });
  });
  fc.assert(property, { numRuns: propertyRuns(5_000) });
});

test('a rotation never leaves an unaccepted token in the Secret, wherever the process ends', () => {
  for (let crash = 0; crash < 6; crash += 1) {
    const row: Row = { owner: UID, isRevoked: false, isSame: true, token: 1, next: undefined };
    const secret: Secret = { isOwn: true, isDescribed: true, handledRotation: undefined, token: 1 };
    const base = { isDeleted: false, hasFinalizer: true, deletionPolicy: 'Revoke' as const, staged: undefined, tokens: 100 };
    const world: World = { ...base, rotate: 'now', row, secret };
    expect(converge(world, new Set([crash]))).toMatchObject({ ready: { status: 'True' } });
    expect([isAccepted(world), world.secret?.token === 1]).toEqual([true, false]);
  }
});

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-23T12:00:00Z');

test.each([
  ['a token of this morning', NOW - 5_000, NOW - 5_000 + DAY_MS],
  ['a token of a process whose clock is a little ahead', NOW + 5_000, NOW + 5_000 + DAY_MS],
  ['a token of the year 2099', Date.parse('2099-01-01T00:00:00Z'), DAY_MS],
  ['a token of which it is not known', undefined, DAY_MS],
])('%s', (_, rotatedAt, expected) => {
  expect(rotationDueAt(rotatedAt, DAY_MS, NOW)).toBe(expected);
});
