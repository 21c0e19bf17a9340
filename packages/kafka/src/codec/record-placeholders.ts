import { invariant } from '@vitrine/faults/invariant';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ICustomPartitioner, Message } from 'kafkajs';
import type { KafkaRecord } from '../kafka-record.ts';

/** Numbers of the send and of the record in it, 32 bits each. */
const PLACEHOLDER_BYTES = 8;

/** Records of one send. Retries repeat its number. */
export interface RecordSend {
  /** Random, 32 bits without sign. */
  readonly number: number;
  readonly records: readonly KafkaRecord[];
}

/** kafkajs' retries and its codecs are called within the send that they belong to. */
const current = new AsyncLocalStorage<RecordSend>();

/** Calls kafkajs so that its partitioner and its codec know the send. */
export function duringSend<T>(send: RecordSend, call: () => Promise<T>): Promise<T> {
  return current.run(send, call);
}

/** Messages for kafkajs with a placeholder for the value of each record. kafkajs would copy a value some ten times, into zeroed buffers of up
 *  to twice its size, before the codec sees it. */
export function placeholdersOf({ number, records }: RecordSend): Message[] {
  return records.map(({ key }, index) => {
    const value = Buffer.allocUnsafe(PLACEHOLDER_BYTES);
    value.writeUInt32BE(number);
    value.writeUInt32BE(index, 4);
    return { key, value };
  });
}

/** All records of a send go to one partition, by the number of the send: a batch of many records takes less CPU here, at the broker and at its
 *  consumers than a part for each partition. Not in turn: where large and small sends take turns, too, half of the partitions would get little. */
export const partitionBySend: ICustomPartitioner = () => {
  return ({ partitionMetadata }) => {
    const { number } = currentSend();
    const partition = partitionMetadata[number % partitionMetadata.length];
    invariant(partition !== undefined, 'a topic has partitions');
    return partition.partitionId;
  };
};

/** The records whose placeholders stand in a batch that kafkajs has encoded. Throws where these are not of the current send. */
export function placedRecords(batch: Buffer): readonly KafkaRecord[] {
  const { number, records } = currentSend();
  const placed: KafkaRecord[] = [];
  for (let at = 0; at < batch.length;) {
    const { length, from } = readLength(batch, at);
    at = from + length;
    // The value stands before the number of headers, which is one byte: there are none.
    const valueAt = at - 1 - PLACEHOLDER_BYTES;
    const record = records[batch.readUInt32BE(valueAt + 4)];
    invariant(batch.readUInt32BE(valueAt) === number && record !== undefined, 'a placeholder stands for a record of its send');
    placed.push(record);
  }
  return placed;
}

function currentSend(): RecordSend {
  const send = current.getStore();
  invariant(send !== undefined, 'records are published within a send');
  return send;
}

/** A varint with zigzag, which is never negative here, and where it ends. */
function readLength(bytes: Buffer, start: number): { readonly length: number; readonly from: number } {
  let bits = 0;
  let at = start;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes.readUInt8(at++);
    bits |= (byte & 127) << shift;
    if (byte < 128) return { length: bits >>> 1, from: at };
  }
}
