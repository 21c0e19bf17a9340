import kafkajs from 'kafkajs';
import { createKafkaClient } from '../kafka-client.ts';
import { collectLog } from './collect-log.ts';

/** The group that consumes each topic, from the members that have joined; empty while the broker is still loading them. */
export async function joinedGroups(brokers: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const admin = createKafkaClient({ clientId: 'test-groups', brokers }, collectLog()).kafka.admin();
  await admin.connect();
  try {
    const ids = (await admin.listGroups()).groups.map(({ groupId }) => groupId);
    const { groups } = await admin.describeGroups(ids);
    const joined = groups.flatMap(({ groupId, members }) =>
      members.flatMap(({ memberMetadata }) => topicsOf(memberMetadata).map((topic) => [topic, groupId] as const)),
    );
    return Object.fromEntries(joined);
  } catch (error) {
    if ((error as { readonly type?: unknown }).type === 'GROUP_LOAD_IN_PROGRESS') return {};
    throw error;
  } finally {
    await admin.disconnect();
  }
}

/** A member that is just joining has no assignment yet. */
function topicsOf(memberMetadata: Buffer): readonly string[] {
  if (memberMetadata.length === 0) return [];
  return kafkajs.AssignerProtocol.MemberMetadata.decode(memberMetadata)?.topics ?? [];
}
