import type { TestGateway } from './start-test-gateway.ts';

/** An operation of the admin API, as a gateway describes it. */
export interface ServedOperation {
  /** Method and path, such as `GET /api/traces/:id`. */
  readonly name: string;
  readonly method: string;
  /** A part that begins with a colon is a parameter. */
  readonly path: string;
  /** What the caller must be permitted to do, or `public`. */
  readonly permission: string;
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { security: { GatewayKey?: string[] }[] }>>>>;
}

/** All operations of the admin API: a new one is among them without being listed anywhere. */
export async function readServedOperations(gateway: Pick<TestGateway, 'get'>): Promise<ServedOperation[]> {
  const { paths } = (await gateway.get('/api/openapi.json')) as Described;
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([lowerCase, { security }]) => {
      const [method, path] = [lowerCase.toUpperCase(), template.replaceAll(/\{(\w+)\}/g, ':$1')];
      return { name: `${method} ${path}`, method, path, permission: security[0]?.GatewayKey?.[0] ?? 'public' };
    }),
  );
}
