import type { z } from 'zod';
import type { JsonBody } from './requests/read-json-body.ts';

/** One path of an API and its operations. `Identity` and `Permission` are types of the service: the identity of a caller, and the permission that
 *  an operation requires. The defaults are for a service without authorization. */
export interface Route<Identity = unknown, Permission extends string = never> {
  /** A segment that begins with a colon is a parameter, such as `/api/traces/:id`. */
  readonly path: string;
  /** The schemas of the path's parameters. They are documented, not checked: handlers respond with 404 to unknown objects. */
  readonly params?: z.ZodObject;
  readonly GET?: Operation<Identity, Permission>;
  readonly POST?: Operation<Identity, Permission>;
  readonly DELETE?: Operation<Identity, Permission>;
}

/** The methods of a path for its `Allow` header: includes HEAD with every GET, and OPTIONS below `/api`. */
export function methodsOf(route: Route<never, string>): string[] {
  return [
    ...(route.GET === undefined ? [] : ['GET', 'HEAD']),
    ...(route.POST === undefined ? [] : ['POST']),
    ...(route.DELETE === undefined ? [] : ['DELETE']),
    ...(route.path === '/' ? [] : ['OPTIONS']),
  ];
}

/** One method of a path. The OpenAPI document is generated from it, and tests check its responses against that. */
export interface Operation<Identity = unknown, Permission extends string = never, Query = unknown, Body = unknown> {
  /** One sentence. */
  readonly summary: string;
  /** The permission that the caller needs. */
  readonly permission: Permission | 'public';
  readonly query?: z.ZodType<Query>;
  readonly body?: JsonBody<Body>;
  readonly status: 200 | 201 | 204;
  /** Schema of the response body; undefined for 204. */
  readonly response?: z.ZodType;
  /** Its own error statuses, in addition to those of every operation (401, 403, 503 for the permission; 400 for a query; 500). */
  readonly errors: readonly number[];
  /** Returns the response body, or its JSON as bytes. */
  handle(request: OperationRequest<Identity, Query, Body>): unknown;
}

interface OperationRequest<Identity, Query, Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** From `authorize`; undefined for a public operation. */
  readonly identity: Identity | undefined;
  readonly correlationId: string;
}

/** Returns a function that declares operations and types their handlers by the schemas of query and body. */
export function operationOf<Identity = unknown, Permission extends string = never>() {
  return <Query = unknown, Body = unknown>(
    declared: Operation<Identity, Permission, Query, Body>,
  ): Operation<Identity, Permission> => declared;
}
