import { apiError } from './kubernetes-client.ts';

/** Objects of etcd have at most 1.5 MiB. */
const MAX_LINE = 8 * 1_048_576;

/** The fields of any object that lists and watches read. */
export interface WatchedObject {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    managedFields?: unknown;
  };
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/** The events of a watch, one line of JSON each. Throws an `ApiError` for an event of type ERROR, such as 410 for a resource version that
 *  is too old, and an error for an invalid event, because the stream can no longer be trusted. */
export async function* readWatchEvents<T extends WatchedObject>(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
): AsyncGenerator<WatchEvent<T>> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw new Error(`an event of the watch of ${path} has more than ${MAX_LINE} characters`);
    for (const line of lines) if (line !== '') yield readEvent<T>(line, path);
  }
}

function readEvent<T>(line: string, path: string): WatchEvent<T> {
  const { type, object } = parse(line, path) as { type?: unknown; object?: { code?: number } };
  if (type === 'ERROR') throw apiError('WATCH', path, object?.code ?? 500, JSON.stringify(object));
  if (!['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'].includes(String(type)) || typeof object !== 'object')
    throw new Error(`the watch of ${path} sent an event of the unknown type ${JSON.stringify(type)}`);
  return { type, object } as WatchEvent<T>;
}

function parse(line: string, path: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new Error(`the watch of ${path} sent a line that is not JSON`, { cause });
  }
}
