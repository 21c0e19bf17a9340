import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { customResourceDefinition } from '../custom-resources/custom-resource-definition.ts';
import { KeyFixture } from '../testing/key-fixture.ts';
import { asOperator } from '../testing/start-test-operator.ts';
import { GATEWAY_KEY, ROTATE } from './gateway-key-resource.ts';
import { keyIdOf } from './read-spec.ts';

// Every field of a GatewayKey, from the schema of its definition: its effect is written, follows a change, and ends with the field. A
// field without a row here fails. Messages for immutable fields come from the API server.

interface FieldCase {
  /** The other fields. */
  readonly base?: object;
  /** Two values and the effect of each; one if the field is immutable. */
  readonly values: readonly (readonly [value: unknown, effect: unknown])[];
  /** The effect without the field; `immutable` if it cannot be removed. */
  readonly cleared: unknown;
  readonly effect: (world: KeyFixture) => unknown;
}

const IMMUTABLE = 'immutable';
const OWN_TOKEN = 'a-token-of-a-person-of-30-chars';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const ofRow = (field: 'name' | 'description' | 'role' | 'permissions' | 'plan') => async (world: KeyFixture) =>
  (await world.row)?.[field];
const secretAt = (world: KeyFixture, name: string) => world.fake.read(`/api/v1/namespaces/team-a/secrets/${name}`);

let rotations = 0;
const CASES: Readonly<Record<string, FieldCase>> = {
  keyId: {
    values: [['id-of-the-table', 'id-of-the-table']],
    cleared: IMMUTABLE,
    effect: async (world) => (await world.row)?.id,
  },
  displayName: {
    values: [
      ['CI', 'CI'],
      ['Shop', 'Shop'],
    ],
    cleared: expect.stringMatching(/^key-/),
    effect: ofRow('name'),
  },
  description: {
    values: [
      ['builds', 'builds'],
      ['tests', 'tests'],
    ],
    cleared: undefined,
    effect: ofRow('description'),
  },
  role: {
    values: [
      ['viewer', 'viewer'],
      ['Member', 'member'],
    ],
    cleared: 'developer',
    effect: ofRow('role'),
  },
  permissions: {
    values: [
      [['proxy:write'], ['proxy:write']],
      [['analytics:read'], ['analytics:read']],
    ],
    cleared: [],
    effect: ofRow('permissions'),
  },
  plan: {
    values: [
      ['pro', 'pro'],
      ['growth', 'growth'],
    ],
    cleared: undefined,
    effect: ofRow('plan'),
  },
  secretName: {
    values: [['named', true]],
    cleared: IMMUTABLE,
    effect: (world) => secretAt(world, 'named') !== undefined && world.secret === undefined,
  },
  // Given labels and annotations stay, because another program may have set them to the same value.
  'secretTemplate.labels': {
    values: [
      [{ team: 'a' }, 'a'],
      [{ team: 'b' }, 'b'],
    ],
    cleared: 'b',
    effect: ({ secret }) => secret?.metadata.labels?.['team'],
  },
  'secretTemplate.annotations': {
    values: [
      [{ 'example.com/a': '1' }, '1'],
      [{ 'example.com/a': '2' }, '2'],
    ],
    cleared: '2',
    effect: ({ secret }) => secret?.metadata.annotations?.['example.com/a'],
  },
  'tokenSecretRef.name': {
    values: [
      ['mine', 'mine'],
      ['other', 'other'],
    ],
    cleared: IMMUTABLE,
    effect: acceptedToken,
  },
  'tokenSecretRef.key': {
    base: { tokenSecretRef: { name: 'mine' } },
    values: [
      ['second', 'second'],
      ['third', 'third'],
    ],
    cleared: 'mine',
    effect: acceptedToken,
  },
  'rotation.trigger': {
    values: [
      ['one', ['one', 'True Registered']],
      ['two', ['two', 'True Registered']],
    ],
    cleared: ['two', 'True Registered'],
    effect: (world) => [world.object?.status?.lastHandledTrigger, world.ready],
  },
  'rotation.interval': {
    values: [
      ['2h', 2],
      ['3h', 3],
    ],
    cleared: undefined,
    effect: async (world) => {
      const waitMs = await world.pass();
      return waitMs === undefined ? undefined : Math.round(waitMs / 3_600_000);
    },
  },
  'rotation.gracePeriod': {
    values: [
      ['5m', 5],
      ['10m', 10],
    ],
    cleared: 2,
    effect: async (world) => {
      rotations += 1;
      world.apply(world.object?.spec as object, { annotations: { [ROTATE]: String(rotations) } });
      await world.converge();
      const [row] = await pool.query<{ minutes: number }>(
        'SELECT round(extract(epoch FROM previous_until - now()) / 60)::int AS minutes FROM gateway_keys WHERE id = $1',
        [world.object && keyIdOf(world.object)],
      );
      return row?.minutes;
    },
  },
  deletionPolicy: {
    values: [
      ['Orphan', false],
      ['Revoke', true],
    ],
    cleared: true,
    effect: async (world) => {
      const id = world.object?.status?.keyId ?? '';
      world.fake.delete(world.path);
      await world.converge();
      world.fake.remove(world.secretPath);
      return (await world.rows.read(id))?.isRevoked;
    },
  },
  adoptionPolicy: {
    values: [
      ['IfSameTenant', 'True Registered'],
      ['Never', 'False IdConflict'],
    ],
    cleared: 'False IdConflict',
    effect: async (world) => {
      const { object } = world;
      if (object !== undefined) await world.rows.release({ id: keyIdOf(object), owner_uid: object.metadata.uid });
      await world.converge();
      return world.ready;
    },
  },
};

/** Which of the tokens of `mine` and `other` is that of the row. */
async function acceptedToken(world: KeyFixture): Promise<string | undefined> {
  for (const name of ['mine', 'other', 'second', 'third']) if (await world.isAccepted(tokenFor(world, name))) return name;
  return undefined;
}
const tokenFor = (world: KeyFixture, name: string) => `${name}-${OWN_TOKEN}-${world.name}`;

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}
const { versions } = customResourceDefinition(GATEWAY_KEY)['spec'] as {
  versions: { schema: { openAPIV3Schema: Schema } }[];
};
const schemaOf = (part: 'spec' | 'status'): Schema => versions[0]?.schema.openAPIV3Schema.properties?.[part] ?? {};

/** The paths of all fields that have no fields of their own. */
function fieldsOf({ properties = {} }: Schema, path: readonly string[] = []): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.properties === undefined ? [[...path, name].join('.')] : fieldsOf(schema, [...path, name]),
  );
}

function withField(spec: object, path: string, value: unknown): object {
  const [name = '', ...rest] = path.split('.');
  const inner = (spec as Record<string, object | undefined>)[name] ?? {};
  return { ...spec, [name]: rest.length === 0 ? value : withField(inner, rest.join('.'), value) };
}

let database: TestDatabase;
let pool: PostgresPool;
let world: KeyFixture;
beforeAll(async () => {
  database = await templateDatabase();
  pool = new PostgresPool({ dsn: asOperator(database.dsn), applicationName: 'test' });
});
beforeEach(async () => {
  world = await KeyFixture.open(pool);
  const data = { token: 'mine', second: 'second', third: 'third' };
  const encoded = Object.entries(data).map(([key, name]): [string, string] => [key, base64(tokenFor(world, name))]);
  world.fake.put('/api/v1/namespaces/team-a/secrets/mine', { data: Object.fromEntries(encoded) } as object);
  world.fake.put('/api/v1/namespaces/team-a/secrets/other', { data: { token: base64(tokenFor(world, 'other')) } } as object);
});
afterEach(() => world[Symbol.asyncDispose]());
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test.each(fieldsOf(schemaOf('spec')))('spec.%s is written, followed and cleared', async (field) => {
  const row = CASES[field];
  if (row === undefined) throw new Error(`spec.${field} has no row in CASES of gateway-key-fields.it.test.ts: add one`);
  const { base = {}, values, cleared, effect } = row;
  for (const [value, expected] of values) {
    world.apply(withField(base, field, value));
    await world.converge();
    expect([field, value, await effect(world)]).toEqual([field, value, expected]);
  }
  if (cleared === IMMUTABLE) {
    const [top = ''] = field.split('.');
    expect(JSON.stringify(schemaOf('spec'))).toContain(`has(self.${top}) == has(oldSelf.${top})`);
    return;
  }
  world.apply(base);
  await world.converge();
  expect([field, 'cleared', await effect(world)]).toEqual([field, 'cleared', cleared]);
});

test('rows refer to existing fields', () => {
  expect(fieldsOf(schemaOf('spec'))).toEqual(expect.arrayContaining(Object.keys(CASES)));
});

test('every field of the status is written', async () => {
  world.apply({ rotation: { trigger: 'one' } }, { annotations: { [ROTATE]: '1' } });
  await world.converge();
  const written = Object.keys(world.object?.status ?? {});
  expect(fieldsOf(schemaOf('status')).filter((field) => !written.includes(field))).toEqual([]);
});
