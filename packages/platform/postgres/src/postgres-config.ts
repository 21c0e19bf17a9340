import { Secret } from '@vitrine/config/secret';
import { z } from 'zod';
import { addressOf, DSN_FORM } from './dsn.ts';

/** A DSN in a service's configuration. */
export const postgresDsn = z
  .string()
  .transform((text) => new Secret(text))
  .refine(isDsn, `must have the form ${DSN_FORM}`);

function isDsn(dsn: Secret): boolean {
  try {
    addressOf(dsn);
    return true;
  } catch {
    return false;
  }
}
