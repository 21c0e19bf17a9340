import { expect, test } from '@jest/globals';
import { createLogger } from '@vitrine/telemetry/logger';
import { readGatewayConfig } from '../config.ts';
import { openLimits } from './open-limits.ts';

const KEY = '{id: one, token: one-token-0123456789-0123456789, org_id: org, workspace_id: ws, role: developer}';

test('a plan that is not configured is logged at once, then every ten seconds with the number of its requests', async () => {
  const lines: { readonly msg: string; readonly plan: string; readonly count: number }[] = [];
  const logger = createLogger('test', 'error', { write: (line) => lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const config = readGatewayConfig({ path: 'vitrine.yaml', text: `auth: {enabled: true, keys: [${KEY}]}` }, {});
  let now = 0;
  const clocks = { clock: () => 0, steadyClock: () => now };
  const limits = await openLimits(config, { totals: async () => [], logger, ...clocks });
  const request = (plan: string) =>
    limits.gate({ org_id: 'org', workspace_id: 'ws', key_id: 'one', role: 'developer', permissions: new Set(), plan });
  for (const plan of ['gone', 'gone', 'other']) expect(request(plan)).toBeDefined();
  now = 10_000;
  for (const plan of ['gone', 'last']) expect(request(plan)).toBeDefined();
  expect(lines.map(({ plan, count }) => [plan, count])).toEqual([
    ['gone', 1],
    ['gone', 3],
  ]);
  await limits[Symbol.asyncDispose]();
  expect(lines[2]).toMatchObject({ msg: 'unknown plan: requests rejected', plan: 'last', count: 1 });
});
