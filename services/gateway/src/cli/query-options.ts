import { usageError } from '@vitrine/command-line/usage-error';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { z } from 'zod';
import { readQuery } from '@vitrine/http-api/requests/query-shapes';

/** Options with the rules of the admin API's query parameters of the same names; others are usage errors. */
export function queryOptions<S extends z.ZodType>(shape: S, options: Readonly<Record<string, unknown>>): z.output<S> {
  try {
    return readQuery(shape, options);
  } catch (error) {
    throw codeOf(error) === 'invalid_query' ? usageError(messageOf(error)) : error;
  }
}
