/** One server-sent event; `content` marks those with a content chunk of the response. */
export interface SseEvent {
  readonly event?: string;
  readonly data: string;
  readonly content?: boolean;
}

/** An event with JSON as data; its name, for the APIs that name their events, is the `type` in that. */
export function typedEvent(value: { readonly type: string }, content = false): SseEvent {
  return { event: value.type, data: JSON.stringify(value), content };
}

export function encodeEvent({ event, data }: SseEvent, lineEnd: string): Buffer {
  return Buffer.from(`${event === undefined ? '' : `event: ${event}${lineEnd}`}data: ${data}${lineEnd}${lineEnd}`);
}
