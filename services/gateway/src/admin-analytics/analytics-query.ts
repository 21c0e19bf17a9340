import { BUCKETS } from '@vitrine/traces/trace-analytics';
import { z } from 'zod';
import { BACKWARD, from, isForward, oneOf, text, to } from '../http/query-shapes.ts';

const traces = {
  from: from(),
  to: to(),
  provider: text().describe('Only this provider, such as openai.'),
  model: text().describe('Only this model, by its exact name.'),
};

/** Which traces count. Spec: gateway, Analytics query parameters. */
export const rangeQuery = z.object(traces).refine(isForward, { message: BACKWARD });

/** Setting either switches to the shape of a series; without `bucket` it goes by days then. */
export const seriesQuery = z
  .object({
    ...traces,
    group_by: oneOf(['provider', 'model']).describe('Divides the series.'),
    bucket: oneOf(BUCKETS).describe('Of a series, in UTC, weeks from Monday; day unless told.'),
  })
  .refine(isForward, { message: BACKWARD });

export const breakdownQuery = z
  .object({ ...traces, group_by: oneOf(['provider', 'model', 'route', 'key']).describe('One row each; key is the gateway key.') })
  .refine(isForward, { message: BACKWARD });
