import { isFault } from '@vitrine/faults/fault';
import type { Permission } from '@vitrine/gateway-keys/permission';
import { effectivePermissions } from '@vitrine/gateway-keys/role';
import { createLogger } from '@vitrine/telemetry/logger';
import { existsSync } from 'node:fs';
import { keyFiles } from '../auth/key-files.ts';
import { reasonOf } from '../auth/open-auth.ts';
import { readKeys } from '../auth/open-key-store.ts';
import { openKeys } from '../auth/open-keys.ts';
import type { GatewayConfig } from '../config.ts';
import type { Check } from './check.ts';

/** Checks whether requests need a key, and whether the keys are usable. Creates no files. `plans`: the names of all plans. */
export async function checkAuth(config: GatewayConfig, plans: readonly string[]): Promise<Check> {
  const { auth, server } = config;
  if (!auth.enabled) {
    const details = [`auth.enabled is false; the gateway listens on ${server.host}`];
    return found('warn', 'no key is required: everyone who reaches the port may use the gateway and read every trace', details);
  }
  try {
    const { active, managing, unverifiable, isPepperMissing, withoutPlan } = await countKeys(config, plans);
    const details = [
      `header: ${auth.header}`,
      `keys: ${active}, of which ${managing} may manage keys`,
      ...(unverifiable > 0 ? [`keys whose pepper is missing: ${unverifiable}`] : []),
      ...(withoutPlan.length > 0 ? [`keys with an unknown plan: ${withoutPlan.length}, such as ${withoutPlan[0]}`] : []),
    ];
    if (isPepperMissing) return found('fail', 'there are keys, but their pepper is missing', details);
    if (active === 0)
      return found(
        'fail',
        'there is no gateway key, so every request is rejected; create one: gateway keys create --role owner',
        details,
      );
    if (unverifiable > 0)
      return found('warn', 'some keys are rejected because their pepper is missing: restore it, or rotate the keys', details);
    if (withoutPlan.length > 0)
      return found('warn', 'requests of some keys are rejected, because their plan does not exist', details);
    return found('pass', 'requests need a gateway key', details);
  } catch (error) {
    if (!isFault(error)) throw error;
    return found('fail', 'the gateway keys cannot be read', [...new Set([error.say, reasonOf(error)])]);
  }
}

function found(status: Check['status'], summary: string, details: readonly string[]): Check {
  return { name: 'auth_posture', status, summary, details };
}

async function countKeys(config: GatewayConfig, plans: readonly string[]) {
  await using opened = await openKeys(config, createLogger('svc-gateway', 'silent', { write: () => true }));
  const stored =
    config.auth.store === 'database' ? ((await readKeys(config.storage, (reader) => reader.list(undefined))) ?? []) : [];
  const hasPepper =
    config.auth.peppers.length > 0 || config.auth.store === 'file' || existsSync(keyFiles(config.storage.path).pepper);
  const withoutPlan = [...stored, ...config.auth.keys]
    .filter(({ plan }) => plan !== undefined && !plans.includes(plan))
    .map(({ id }) => id);
  const managing = [...stored, ...config.auth.keys].filter(mayManage).length;
  if (!hasPepper)
    return {
      active: stored.length + config.auth.keys.length,
      managing,
      unverifiable: 0,
      isPepperMissing: stored.length > 0,
      withoutPlan,
    };
  const { ring } = opened.material();
  for (const row of stored) ring.put(row);
  return { active: ring.size, managing, unverifiable: ring.unverifiable, isPepperMissing: false, withoutPlan };
}

function mayManage({ role, permissions }: { readonly role: string; readonly permissions: readonly Permission[] }): boolean {
  return effectivePermissions(role, permissions).has('keys:manage');
}
