import type { Identity } from '@vitrine/gateway-keys/identity';
import type { Permission } from '@vitrine/gateway-keys/permission';
import type { z } from 'zod';

/** One path of the admin API and what answers its methods. */
export interface AdminRoute {
  readonly path: string;
  /** What the parts of the path are that begin with a colon. */
  readonly params?: Readonly<Record<string, PathParameter>>;
  readonly GET?: Operation;
  readonly POST?: Operation;
  readonly DELETE?: Operation;
}

/** What a part of a path is; with another form than `pattern` nothing is found. */
type PathParameter = string | { readonly description: string; readonly pattern: string };

/** The methods that a path answers, as its `Allow` names them: HEAD wherever there is GET, and OPTIONS below `/api`. */
export function methodsOf(route: AdminRoute): string[] {
  return [
    ...(route.GET === undefined ? [] : ['GET', 'HEAD']),
    ...(route.POST === undefined ? [] : ['POST']),
    ...(route.DELETE === undefined ? [] : ['DELETE']),
    ...(route.path === '/' ? [] : ['OPTIONS']),
  ];
}

/** What a method of a path does, takes and answers; the API's description is made from it, and its answers are tested against it. */
export interface Operation<Query = unknown, Body = unknown> {
  /** One sentence. */
  readonly summary: string;
  /** What the caller's key must hold when authentication is on. */
  readonly permission: Permission | 'public';
  readonly query?: z.ZodType<Query>;
  readonly body?: BodyRule<Body>;
  readonly status: 200 | 201 | 204;
  /** Shape of the answer; none with 204. */
  readonly answer?: z.ZodType;
  /** Error statuses of its own, beside those of every operation (401, 403, 503 for the key; 400 for a query; 500). */
  readonly errors: readonly number[];
  /** Answers what is to become JSON, or the bytes of JSON. */
  readonly handle: (request: AdminRequest<Query, Body>) => unknown;
}

/** A JSON body: at most `maxBytes`, nothing at all means `{}`. The texts are what is answered with 413 and 400. */
export interface BodyRule<Body> {
  readonly shape: z.ZodType<Body>;
  readonly maxBytes: number;
  readonly tooLarge: string;
  readonly invalid: string;
}

export interface AdminRequest<Query, Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Who asks; undefined with authentication off. Whoever is named sees the rows of their tenant only. */
  readonly identity: Identity | undefined;
  readonly correlationId: string;
}

/** Lets the shapes of query and body type the handler. */
export function operation<Query = unknown, Body = unknown>(of: Operation<Query, Body>): Operation {
  return of as Operation;
}
