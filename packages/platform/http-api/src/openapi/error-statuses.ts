import type { Operation } from '../route.ts';

/** Descriptions of error statuses; a service may have its own. */
export const ERROR_STATUSES: Readonly<Record<number, string>> = {
  400: 'The request, its query or its body is not valid.',
  401: 'The credential is missing or not valid.',
  403: 'The caller does not have the permission.',
  404: "There is nothing of this id, or it is another tenant's.",
  405: 'The path has no such method.',
  408: 'The request did not arrive in time.',
  409: 'It is there already.',
  413: 'The body is too large.',
  417: 'The request expects something that cannot be met.',
  431: 'The headers are too large.',
  500: 'Something went wrong here.',
  501: 'The service cannot do it.',
  503: 'The service is not available.',
};

/** Possible for every request: it is malformed or has an unknown parameter, its method is another one, it is rejected before it reaches a route, or
 *  the service fails. */
const OF_ANY_REQUEST = [400, 405, 408, 417, 431, 500];

/** An operation's own error statuses, and those of its permission and its body. */
export function errorStatusesOf({ errors, permission, body }: Pick<Operation<never, string>, 'errors' | 'permission' | 'body'>) {
  const statuses = [
    ...errors,
    ...OF_ANY_REQUEST,
    ...(body === undefined ? [] : [413]),
    ...(permission === 'public' ? [] : [401, 403, 503]),
  ];
  return [...new Set(statuses)].toSorted((a, b) => a - b);
}
