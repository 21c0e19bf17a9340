import { Secret } from '@vitrine/config/secret';
import { Fault, messageOf } from '@vitrine/faults/fault';
import { readFileSync } from 'node:fs';
import type { KafkaConnection } from './kafka-client.ts';
import type { KafkaKeys } from './kafka-config.ts';

/** Reads the files that the keys name. Faults: `kafka_credentials_unreadable`. */
export function kafkaConnection(
  clientId: string,
  { brokers, tls, sasl }: Omit<KafkaKeys, 'topic'> & Partial<KafkaKeys>,
): KafkaConnection {
  const { mechanism, username, password } = sasl;
  return {
    clientId,
    brokers,
    tls: tls.enabled ? certificatesOf(tls) : undefined,
    sasl: mechanism === 'none' || password === undefined ? undefined : { mechanism, username, password },
  };
}

function certificatesOf({ ca_path, cert_path, key_path }: KafkaKeys['tls']): NonNullable<KafkaConnection['tls']> {
  return {
    ...(ca_path !== undefined && { ca: readPem(ca_path) }),
    ...(cert_path !== undefined && { cert: readPem(cert_path) }),
    ...(key_path !== undefined && { key: new Secret(readPem(key_path)) }),
  };
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Fault('kafka_credentials_unreadable', { say: `${file} cannot be read: ${messageOf(cause)}`, cause });
  }
}
