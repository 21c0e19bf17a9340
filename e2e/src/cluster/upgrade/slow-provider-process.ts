// Runs in a pod from its source alone: a provider that waits for the time in the header x-delay-ms and uses almost no CPU.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const PORT = 8083;
const CHUNK_MS = 1_000;
const USAGE = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };

function chunk(model: string, content: string, isLast = false): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: isLast ? 'stop' : null }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model, choices, ...(isLast && { usage: USAGE }) })}\n\n`;
}

/** Longer than a gateway keeps a connection: a provider that closes first cuts requests in flight. */
const KEEP_ALIVE_MS = 600_000;

createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
  void text(request).then((body) => {
    const { model, stream } = JSON.parse(body) as { model: string; stream?: boolean };
    const delayMs = Number(request.headers['x-delay-ms'] ?? 0);
    if (stream !== true) {
      const message = { role: 'assistant', content: 'hello' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      const answer = JSON.stringify({ id: 'c', object: 'chat.completion', model, choices, usage: USAGE });
      const send = () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
      setTimeout(send, delayMs);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk(model, 'hel'));
    const beat = setInterval(() => response.write(chunk(model, '.')), CHUNK_MS);
    const end = setTimeout(() => {
      clearInterval(beat);
      response.end(`${chunk(model, 'lo', true)}data: [DONE]\n\n`);
    }, delayMs);
    response.on('close', () => {
      clearInterval(beat);
      clearTimeout(end);
    });
  });
}).listen(PORT, '0.0.0.0');
