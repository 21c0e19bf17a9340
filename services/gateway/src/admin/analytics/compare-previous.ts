/** Milliseconds since the epoch, both ends inclusive. */
export interface ComparedQuery {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly compare?: 'previous' | undefined;
}

interface Period {
  readonly from: number;
  readonly to: number;
}

export const NOT_COMPARABLE = { message: 'compare needs from and to, and a period before them that does not begin before 1970' };

/** Whether there is a period before, if the query asks for it. */
export function isComparable(query: ComparedQuery): boolean {
  return query.compare === undefined || (periodBefore(query)?.from ?? -1) >= 0;
}

/** The response to a query, and in `previous` that of the period before, if the query asks for it. Spec: G7.21. */
export async function comparePrevious<Query extends ComparedQuery>(
  { compare, ...query }: Query,
  respond: (query: Omit<Query, 'compare'>) => Promise<object>,
): Promise<object> {
  const before = compare && periodBefore(query);
  if (before === undefined) return await respond(query);
  const [response, previous] = await Promise.all([respond(query), respond({ ...query, ...before })]);
  return withPrevious(response, previous, before);
}

function periodBefore({ from, to }: ComparedQuery): Period | undefined {
  return from === undefined || to === undefined ? undefined : { from: 2 * from - to - 1, to: from - 1 };
}

/** A series is its JSON. */
function withPrevious(response: object, previous: object, { from, to }: Period): object {
  const period = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  if (!(response instanceof Uint8Array && previous instanceof Uint8Array))
    return { ...response, previous: { ...period, ...previous } };
  const start = `,"previous":${JSON.stringify(period).slice(0, -1)},`;
  return Buffer.concat([response.subarray(0, -1), Buffer.from(start), previous.subarray(1), Buffer.from('}')]);
}
