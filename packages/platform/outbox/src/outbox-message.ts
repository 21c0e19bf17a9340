import type { Queryable } from '@vitrine/postgres/connection';
import type { OutboxBacklog } from './outbox-figures.ts';

/** A row of the table `outbox`: a message of a transaction that has committed. */
export interface OutboxMessage {
  readonly id: number;
  readonly topic: string;
  /** Messages of one topic and key are published in the order of their ids. */
  readonly key: string;
  /** JSON. */
  readonly payload: string;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
}

interface OutboxQuery {
  /** Topics in the order in which they are drained. Messages of other topics stay. */
  readonly topics: readonly string[];
  /** Ids of messages to skip. */
  readonly except: readonly number[];
  readonly limit: number;
}

/** Only the oldest unpublished message of a key: a later one could overtake it in another relay. A published message whose relay has not committed
 *  yet still counts as unpublished here, so its successors wait for the commit. */
const SELECT = `SELECT id, topic, key, payload, created_at FROM outbox o WHERE published_at IS NULL AND topic = $1 AND id <> ALL ($2::bigint[])
  AND NOT EXISTS (SELECT FROM outbox e WHERE e.published_at IS NULL AND e.topic = o.topic AND e.key = o.key AND e.id < o.id)
  ORDER BY id LIMIT $3`;
const LOCK = `${SELECT} FOR UPDATE OF o SKIP LOCKED`;
const MARK = 'UPDATE outbox SET published_at = clock_timestamp() WHERE id = ANY ($1::bigint[]) AND published_at IS NULL';

/** Reads the next messages. */
export function readMessages(database: Queryable, query: OutboxQuery): Promise<OutboxMessage[]> {
  return drainTopics(database, query, SELECT, 'outbox_read');
}

/** Reads the next messages and locks them for the caller's transaction; messages locked by another relay are skipped. */
export function lockMessages(transaction: Queryable, query: OutboxQuery): Promise<OutboxMessage[]> {
  return drainTopics(transaction, query, LOCK, 'outbox_lock');
}

async function drainTopics(database: Queryable, { topics, except, limit }: OutboxQuery, text: string, name: string) {
  const messages: OutboxMessage[] = [];
  for (const topic of topics) {
    const room = limit - messages.length;
    if (room > 0) messages.push(...(await database.query<OutboxMessage>(text, [topic, except, room], { name })));
  }
  return messages;
}

export async function markPublished(database: Queryable, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await database.execute(MARK, [ids], { name: 'outbox_mark' });
}

/** Counting more would cost too much. */
export const MAX_BACKLOG_ROWS = 100_000;

/** The first row of the index is the oldest one. */
const READ_BACKLOG = `SELECT (SELECT count(*) FROM (SELECT FROM outbox WHERE published_at IS NULL LIMIT ${MAX_BACKLOG_ROWS}) AS b) AS rows,
  coalesce((SELECT extract(epoch FROM clock_timestamp() - created_at) * 1000 FROM outbox WHERE published_at IS NULL ORDER BY id LIMIT 1), 0)::float8
    AS age`;

export async function readBacklog(database: Queryable): Promise<OutboxBacklog> {
  const [row] = await database.query<{ rows: number; age: number }>(READ_BACKLOG);
  return { rows: row?.rows ?? 0, oldestAgeMs: Math.max(0, row?.age ?? 0) };
}
