import type { IncomingMessage } from 'node:http';

/** The fields of any object that an API server reads. */
export interface StoredObject {
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly generateName?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** The fault of a write, with the status and reason of a real API server. */
export class WriteRejected extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string) {
    super(reason);
    this.status = status;
    this.reason = reason;
  }
}

type Json = Readonly<Record<string, unknown>>;

/** The object after a PATCH of it, or of its status. Undefined fields of the object are created, as a server-side apply would. */
export function patched(
  stored: StoredObject | undefined,
  request: IncomingMessage,
  isStatus: boolean,
  text: string,
): StoredObject {
  const type = request.headers['content-type'] ?? '';
  const body = JSON.parse(text) as unknown;
  if (type === 'application/apply-patch+yaml') return merge(stored ?? {}, body) as StoredObject;
  if (stored === undefined) throw new WriteRejected(404, 'NotFound');
  const { metadata, status, ...rest } = body as StoredObject;
  requireVersion(stored, metadata?.resourceVersion);
  // A status can only be written with its own path, which writes nothing else.
  return merge(stored, isStatus ? { status } : { metadata, ...rest }) as StoredObject;
}

export function requireVersion(stored: StoredObject, version: string | undefined): void {
  if (version !== undefined && version !== stored.metadata?.resourceVersion) throw new WriteRejected(409, 'Conflict');
}

/** Whether labels and name of an object match a list or watch. */
export function isSelected({ metadata = {} }: StoredObject, selectors: URLSearchParams): boolean {
  const [label = '', value = ''] = (selectors.get('labelSelector') ?? '').split('=');
  const [, name] = (selectors.get('fieldSelector') ?? '').split('=');
  return (label === '' || metadata.labels?.[label] === value) && (name === undefined || metadata.name === name);
}

/** RFC 7386: null removes. */
function merge(target: unknown, change: unknown): unknown {
  if (!isObject(change)) return change;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete result[key];
    else if (value !== undefined) result[key] = merge(result[key], value);
  }
  return result;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
