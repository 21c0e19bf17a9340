import type { KafkaLog } from '@vitrine/kafka/kafka-log';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { BroadcastChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads';

type Level = keyof KafkaLog;

interface LogLine {
  readonly level: Level;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** The log of a worker thread: its lines are written by the log of the main thread. */
export function channelLog(name: string): KafkaLog & Disposable {
  const channel = new BroadcastChannel(name);
  channel.unref();
  const write =
    (level: Level) =>
    ({ err, ...fields }: Readonly<Record<string, unknown>>, message: string) =>
      channel.postMessage({
        level,
        fields: { ...fields, ...(err !== undefined && { err: writeErrorOf(err) }) },
        message,
      } satisfies LogLine);
  const levels = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  return { ...levels, [Symbol.dispose]: () => channel.close() };
}

/** Writes the lines of `channelLog` with the same name. */
export function receiveLog(name: string, log: KafkaLog): Disposable {
  const channel = new BroadcastChannel(name);
  const write = ({ level, fields, message }: LogLine) => log[level](fields, message);
  channel.addEventListener('message', (event) => write((event as unknown as { readonly data: LogLine }).data));
  channel.unref();
  return {
    [Symbol.dispose]: () => {
      // The last lines of a thread that has ended are still in the channel.
      for (;;) {
        const received = receiveMessageOnPort(channel as unknown as MessagePort);
        if (received === undefined) break;
        write(received.message as LogLine);
      }
      channel.close();
    },
  };
}
