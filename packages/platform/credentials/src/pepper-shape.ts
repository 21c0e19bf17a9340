import { z } from 'zod';
import { PEPPER_FORM, readPepper } from './pepper.ts';

/** A pepper in a service's configuration. */
export const pepperShape = z.string().transform((text, context) => {
  const read = readPepper(text);
  if (read !== undefined) return read;
  context.addIssue({ code: 'custom', message: PEPPER_FORM });
  return z.NEVER;
});
