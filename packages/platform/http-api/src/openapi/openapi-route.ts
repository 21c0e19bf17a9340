import { z } from 'zod';
import type { Route } from '../route.ts';
import type { ApiDescription, DocumentedRoute } from './openapi-document.ts';

const document = z
  .looseObject({
    openapi: z.string(),
    info: z.looseObject({ title: z.string(), version: z.string() }),
    paths: z.record(z.string(), z.unknown()),
    components: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'OpenApiDocument', description: 'An OpenAPI 3.1 document.' });

/** `GET /api/openapi.json`: the document of `routes` and of itself, generated when it is first requested. */
export function openapiRoute(routes: readonly DocumentedRoute[], description: ApiDescription): Route {
  let described: Promise<object> | undefined;
  const describe = async () => {
    const { describeApi } = await import('./openapi-document.ts');
    return describeApi([...routes, route], description);
  };
  const route: Route = {
    path: '/api/openapi.json',
    GET: {
      summary: 'Describes this API.',
      permission: 'public',
      status: 200,
      response: document,
      errors: [],
      handle: () => (described ??= describe()),
    },
  };
  return route;
}
