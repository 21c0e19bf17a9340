import type * as http from 'node:http';
import { createRequire } from 'node:module';

/** The parts of `node:http` that servers need. An import of `node:http` reads all of its exports, and three of them load undici, which no server
 *  needs and which takes 40 ms of every start. */
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } = createRequire(import.meta.url)(
  'node:http',
) as typeof http;
