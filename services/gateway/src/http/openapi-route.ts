import { z } from 'zod';
import { operation, type AdminRoute } from './admin-route.ts';
import { describeApi, type ApiDetails } from './openapi-document.ts';

const document = z
  .looseObject({
    openapi: z.string(),
    info: z.looseObject({ title: z.string(), version: z.string() }),
    paths: z.record(z.string(), z.unknown()),
    components: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'OpenApiDocument', description: 'An OpenAPI 3.1 document.' });

/** The routes and one more, `GET /api/openapi.json`, which describes all of them. */
export function describedRoutes(routes: readonly AdminRoute[], details: ApiDetails): AdminRoute[] {
  const all: AdminRoute[] = [
    ...routes,
    {
      path: '/api/openapi.json',
      GET: operation({
        summary: 'Describes this API.',
        permission: 'public',
        status: 200,
        answer: document,
        errors: [],
        handle: () => (described ??= describeApi(all, details)),
      }),
    },
  ];
  let described: ReturnType<typeof describeApi> | undefined;
  return all;
}
