import { z } from 'zod';

/** Keys under `log` of every service; a service may have more. */
export const logKeys = { level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info') };
