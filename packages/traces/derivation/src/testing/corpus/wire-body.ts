import type { CorpusExchange } from './exchange-corpus.ts';

/** A body as sent on the wire. */
export interface WireBody {
  readonly contentType: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

const BOUNDARY = 'corpus-boundary-7f3a';
const FILLER = 'The quick brown fox jumps over the lazy dog. ';

/** The body of a request or of a response of the corpus. */
export function wireBodyOf(message: CorpusExchange['request'] | CorpusExchange['response']): WireBody {
  const { contentType, text } = bodyOf(message);
  return { contentType: message.headers['content-type'] ?? contentType, bytes: Buffer.from(text) };
}

function bodyOf(message: CorpusExchange['request'] | CorpusExchange['response']): {
  contentType: string;
  text: string | Uint8Array;
} {
  if ('form' in message && message.form !== undefined)
    return {
      contentType: `multipart/form-data; boundary=${BOUNDARY}`,
      text: Buffer.concat(message.form.map(partOf).concat(END)),
    };
  if ('events' in message && message.events !== undefined)
    return { contentType: 'text/event-stream', text: message.events.map(eventText).join('') };
  if (message.lines !== undefined)
    return { contentType: 'application/x-jsonl', text: message.lines.map((line) => `${JSON.stringify(line)}\n`).join('') };
  if (message.json !== undefined) return { contentType: 'application/json', text: JSON.stringify(message.json) };
  return { contentType: 'text/plain', text: message.text ?? '' };
}

const END = Buffer.from(`--${BOUNDARY}--\r\n`);

type FormPart = NonNullable<CorpusExchange['request']['form']>[number];

function partOf(part: FormPart): Buffer {
  const head = 'value' in part ? '' : `; filename="${part.filename}"\r\nContent-Type: ${part.type}`;
  const content = 'value' in part ? Buffer.from(part.value) : fileOf(part);
  const start = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${part.name}"${head}\r\n\r\n`;
  return Buffer.concat([Buffer.from(start), content, Buffer.from('\r\n')]);
}

function fileOf({ bytes = 0, base64 }: Extract<FormPart, { filename: string }>): Buffer {
  return base64 === undefined ? Buffer.alloc(bytes, FILLER) : Buffer.from(base64, 'base64');
}

type CorpusEvent = NonNullable<CorpusExchange['response']['events']>[number];

function eventText(event: CorpusEvent): string {
  if ('comment' in event) return `: ${event.comment}\n\n`;
  const name = event.event === undefined ? '' : `event: ${event.event}\n`;
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  return `${id}${name}data: ${typeof event.data === 'string' ? event.data : JSON.stringify(event.data)}\n\n`;
}
