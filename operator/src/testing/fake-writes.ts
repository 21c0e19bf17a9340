import type { IncomingMessage } from 'node:http';

/** An object of any kind, as far as an API server reads it. */
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

/** What is wrong with a write, with the status and reason of a real API server. */
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
  if (type === 'application/json-patch+json') return jsonPatched(stored, body as PatchOperation[]);
  const { metadata, status, ...rest } = body as StoredObject;
  requireVersion(stored, metadata?.resourceVersion);
  // A status is written by its own path only, and nothing else is written by that.
  return merge(stored, isStatus ? { status } : { metadata, ...rest }) as StoredObject;
}

export function requireVersion(stored: StoredObject, version: string | undefined): void {
  if (version !== undefined && version !== stored.metadata?.resourceVersion) throw new WriteRejected(409, 'Conflict');
}

/** Whether labels and name of an object are those that a list or watch selects. */
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

interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** RFC 6902, as far as it is used here. */
function jsonPatched(stored: StoredObject, operations: readonly PatchOperation[]): StoredObject {
  const result = structuredClone(stored) as unknown as Record<string, unknown>;
  for (const { op, path, value } of operations) {
    const keys = path
      .slice(1)
      .split('/')
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop() ?? '';
    const parent = keys.reduce<unknown>((at, key) => (isObject(at) || Array.isArray(at) ? (at as Json)[key] : undefined), result);
    if (typeof parent !== 'object' || parent === null) throw new WriteRejected(422, 'Invalid');
    const found = (parent as Json)[last];
    if (op === 'test' && JSON.stringify(found) !== JSON.stringify(value)) throw new WriteRejected(422, 'Invalid');
    if (op === 'remove' && found === undefined) throw new WriteRejected(422, 'Invalid');
    if (op === 'add' || op === 'replace') {
      if (Array.isArray(parent) && last === '-') parent.push(value);
      else (parent as Record<string, unknown>)[last] = value;
    }
    if (op === 'remove') {
      if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else delete (parent as Record<string, unknown>)[last];
    }
  }
  return result;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
