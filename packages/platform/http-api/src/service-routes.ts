import { z } from 'zod';
import { operationOf, type Route } from './route.ts';

/** What a service says of itself. */
export interface ServiceState<Reason extends string = never, Details extends z.ZodRawShape = typeof NO_DETAILS> {
  readonly name: string;
  readonly version: string;
  /** Everything that can degrade the service, and what degrades it now. */
  readonly reasons?: readonly Reason[];
  readonly degradedBy?: () => readonly Reason[];
  /** Further fields of health, such as the number of stored objects. Not a promise, because health does not wait for other servers. */
  readonly details?: Details;
  readonly readDetails?: () => z.output<z.ZodObject<Details>>;
}

const operation = operationOf();
const NO_DETAILS = {};

/** `GET /` and `GET /api/health`. Health responds with 200 even when the service is degraded, because it reports how well the service works. Load
 *  balancers and the kubelet use the probes: `probeRoutes`. */
export function serviceRoutes<Reason extends string = never, Details extends z.ZodRawShape = typeof NO_DETAILS>(
  service: ServiceState<Reason, Details> & { readonly uptimeSec: () => number },
): Route[] {
  const { name, version, uptimeSec, reasons = [], degradedBy = () => [], details, readDetails } = service;
  const about = z
    .strictObject({ name: z.literal(name), version: z.string(), status: z.literal('ok') })
    .meta({ id: 'ServiceMetadata' });
  const health = z
    .strictObject({
      status: z.enum(['ok', 'degraded']),
      // An empty enum is not valid in JSON Schema.
      ...(reasons.length > 0 && {
        reasons: z.array(z.enum(reasons)).min(1).optional().describe('The causes; present only when degraded.'),
      }),
      version: z.string(),
      uptime_sec: z.int().min(0),
      ...details,
    })
    .meta({ id: 'Health' });
  const readHealth = () => {
    const degraded = degradedBy();
    return {
      ...(degraded.length === 0 ? { status: 'ok' } : { status: 'degraded', reasons: degraded }),
      version,
      uptime_sec: uptimeSec(),
      ...readDetails?.(),
    };
  };
  const common = { permission: 'public', status: 200, errors: [] } as const;
  return [
    {
      path: '/',
      GET: operation({
        ...common,
        summary: 'Returns the name and version of the service.',
        response: about,
        handle: () => ({ name, version, status: 'ok' }),
      }),
    },
    {
      path: '/api/health',
      GET: operation({
        ...common,
        summary: 'Returns the health of the service, with the causes when it is degraded.',
        response: health,
        handle: readHealth,
      }),
    },
  ];
}
