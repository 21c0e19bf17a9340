import { expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import * as fc from 'fast-check';
import { InputEstimate } from './input-estimate.ts';
import { OutputEstimate } from './output-estimate.ts';
import { EXCHANGES, OUTPUT_PRICE, type GeneratedExchange } from './testing/generated-exchange.ts';

function boundOf({ request, response, responseKind, model }: GeneratedExchange): number {
  const input = new InputEstimate();
  input.push(request);
  const output = new OutputEstimate(responseKind);
  output.push(response);
  return input.tokens(model) + OUTPUT_PRICE * output.tokens({ model });
}

// `VITRINE_LONG_RUNS=1 npm run unit -- token-estimates` has all 10,000.
test('an upper bound covers the cost in 99.9 % of exchanges whose usage is hidden, and is at most twice it in half of them', () => {
  const ratios = fc
    .sample(EXCHANGES, { seed: 32, numRuns: propertyRuns(10_000) })
    .map((exchange) => boundOf(exchange) / (exchange.input + OUTPUT_PRICE * exchange.output));
  expect(ratios.filter((ratio) => ratio < 1).length).toBeLessThanOrEqual(ratios.length / 1_000);
  expect(ratios.filter((ratio) => ratio <= 2).length).toBeGreaterThanOrEqual(ratios.length / 2);
});
