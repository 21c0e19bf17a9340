import { argv, stdout } from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { createKafkaClient } from '../kafka-client.ts';
import { KafkaPublisher } from '../publish/kafka-publisher.ts';
import { collectLog } from './collect-log.ts';

// Publishes one record to the broker and topic of the arguments, prints the result, and ends when nothing keeps the process alive.
const [broker = '', topic = ''] = argv.slice(2);
const publisher = new KafkaPublisher(createKafkaClient({ clientId: 'one', brokers: [broker] }, collectLog()), { topic });
while (!publisher.isReady) await wait(10);
stdout.write((await publisher.publish([{ key: 'k', value: Buffer.from('v') }])).join());
await publisher[Symbol.asyncDispose]();
