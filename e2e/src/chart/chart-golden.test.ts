import { expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../running-process.ts';
import { goldenText } from '@vitrine/testkit/golden-text';
import { CHART } from './render-chart.ts';
import { valuesTable } from './values-table.ts';

const INTRODUCTION = `# The chart vitrine

All services and the operator in one release. The README of the repository has the commands, docs/operations.md describes how to install, upgrade
and uninstall, docs/adding-a-service.md how to add a service. This page is generated from the comments in values.yaml.
`;

test('charts/vitrine/README.md documents every value; npm run golden rewrites it', () => {
  const table = valuesTable(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
  const text = `${INTRODUCTION}\n${table}\n`;
  expect(text).toBe(goldenText(join(CHART, 'README.md'), text));
});

test('the chart has the checksum of migrations/sql, which names its Job; npm run golden rewrites it', () => {
  const folder = join(ROOT, 'migrations/sql');
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).toSorted())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(folder, file)))
      .update('\0');
  const text = `${hash.digest('hex')}\n`;
  expect(text).toBe(goldenText(join(CHART, 'files/migrations.sha256'), text));
});

test('a value without a comment is an error', () => {
  expect(() => valuesTable('# Of pods.\nreplicas: 1\nname: x\n')).toThrow('name: has no comment');
});
