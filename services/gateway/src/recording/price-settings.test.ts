import { expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { openPriceCatalogue } from '@vitrine/trace-derivation/price-catalogue';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readGatewayConfig } from '../config.ts';
import { priceFaults, readPrices } from './price-settings.ts';

const settings = (prices: object) => readGatewayConfig({ path: 'y', text: JSON.stringify({ prices }) }, {}).prices;

test('the models that stand in for unknown ones by default have a price in the list', () => {
  const { unknownModel } = readPrices(settings({}));
  expect(unknownModel).toEqual({ openai: 'gpt-5.5', anthropic: 'claude-opus-4-6' });
  const list = openPriceCatalogue();
  const at = new Date();
  expect(list.rates('openai', unknownModel.openai, at)).toBeDefined();
  expect(list.rates('anthropic', unknownModel.anthropic, at)).toBeDefined();
  expect(list.rates('openai', unknownModel.anthropic, at)).toBeUndefined();
});

test('other models need a price in the list of their provider, or in an override', async () => {
  await using folder = await temporaryFolder('prices');
  const override_path = join(folder.path, 'prices.yaml');
  writeFileSync(override_path, 'models: [{provider: openai, match: house-*, input_usd_per_mtok: 9, output_usd_per_mtok: 9}]');
  const models = { openai: 'house-large', anthropic: 'claude-opus-4-1' };
  expect(readPrices(settings({ override_path, unknown_model: models })).unknownModel).toEqual(models);
  expect(() => readPrices(settings({ unknown_model: { openai: 'house-large', anthropic: 'gpt-5.5' } }))).toThrow(
    `the configuration has 2 faults
  prices.unknown_model.openai (SVC_PRICES_UNKNOWN_MODEL_OPENAI): must be a model with a price, in the price list or in the file of prices.override_path; got "house-large"
  prices.unknown_model.anthropic (SVC_PRICES_UNKNOWN_MODEL_ANTHROPIC): must be a model with a price, in the price list or in the file of prices.override_path; got "gpt-5.5"`,
  );
});

test('an unusable override is the only fault, and invalid parts have none', () => {
  const faults = priceFaults({ override_path: '/none.yaml', unknown_model: { openai: 'house-large' } });
  expect(faults.map(({ path }) => path)).toEqual(['prices.override_path']);
  expect(priceFaults({ unknown_model: { openai: undefined } })).toEqual([]);
  expect(priceFaults()).toEqual([]);
});
