import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { connectionsOf } from './database-connections.ts';
import { goldenText } from '@vitrine/testkit/golden-text';
import { COMPONENTS, connectionKeys, NAMES_FILE, namesInSources, type NamesFile } from './shared-names.ts';

const INTRODUCTION = '# Names shared by services, chart, examples and alerts. Generated from the services by `npm run golden`.\n';

const opened = new AsyncDisposableStack();
let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = opened.use(await templateDatabase());
  folder = await mkdtemp(join(tmpdir(), 'vitrine-names-'));
  opened.defer(() => rm(folder, { recursive: true }));
});
afterAll(() => opened.disposeAsync());

test('charts/vitrine/files/names.yaml has the names of the sources and the connections of running services; npm run golden rewrites it', async () => {
  const connections: Record<string, number> = {};
  for (const component of COMPONENTS) connections[component] = await connectionsOf(component, database, folder);
  const keys = COMPONENTS.map((component) => [component, connectionKeys(component)] as const);
  const names: NamesFile = {
    ...namesInSources(),
    connections: connections as NamesFile['connections'],
    connection_keys: Object.fromEntries(keys.filter(([, found]) => Object.keys(found).length > 0)),
  };
  const text = INTRODUCTION + stringify(names);
  expect(text).toBe(goldenText(NAMES_FILE, text));
});
