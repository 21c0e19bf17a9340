import { isFault } from '@vitrine/faults/fault';
import type { Permission } from '@vitrine/gateway-keys/permission';
import { effectivePermissions } from '@vitrine/gateway-keys/role';
import { createLogger } from '@vitrine/telemetry/logger';
import { existsSync } from 'node:fs';
import { keyFiles } from '../auth/key-files.ts';
import { reasonOf } from '../auth/open-auth.ts';
import { openKeys, readKeys } from '../auth/open-keys.ts';
import type { GatewayConfig } from '../config.ts';
import type { Check } from './check.ts';

/** Who would be let in. Nothing is made: where a gateway has never kept keys, there are none. */
export async function checkAuth(config: GatewayConfig): Promise<Check> {
  const { auth, server } = config;
  if (!auth.enabled) {
    const details = [`auth.enabled is false; the gateway listens on ${server.host}`];
    return found('warn', 'no key is asked for: whoever reaches the port may use the gateway and read every trace', details);
  }
  try {
    const { active, managing, unverifiable, pepperIsGone, withoutPlan } = await countKeys(config);
    const details = [
      `header: ${auth.header}`,
      `keys: ${active}, of which ${managing} may manage keys`,
      ...(unverifiable > 0 ? [`keys of a pepper that is gone: ${unverifiable}`] : []),
      ...(withoutPlan.length > 0
        ? [`keys of a plan that is not configured: ${withoutPlan.length}, such as ${withoutPlan[0]}`]
        : []),
    ];
    if (pepperIsGone) return found('fail', 'there are keys, and the pepper that they were made with is gone', details);
    if (active === 0)
      return found('fail', 'there is no gateway key, so every request is refused: gateway keys create --role owner', details);
    if (unverifiable > 0) return found('warn', 'some keys are refused: put their pepper back, or rotate them', details);
    if (withoutPlan.length > 0)
      return found('warn', 'some keys are refused at the providers, because their plan is none of plans', details);
    return found('pass', 'callers need a gateway key', details);
  } catch (error) {
    if (!isFault(error)) throw error;
    return found('fail', 'the gateway keys cannot be read', [...new Set([error.say, reasonOf(error)])]);
  }
}

function found(status: Check['status'], summary: string, details: readonly string[]): Check {
  return { name: 'auth_posture', status, summary, details };
}

async function countKeys(config: GatewayConfig) {
  await using opened = openKeys(config, createLogger('svc-gateway', 'silent', { write: () => true }));
  const stored = config.auth.store === 'database' ? await readKeys(config, (reader) => reader.list(undefined)) : undefined;
  const kept = stored ?? [];
  const hasPepper =
    config.auth.peppers.length > 0 || config.auth.store === 'file' || existsSync(keyFiles(config.storage.path).pepper);
  const withoutPlan = kept.filter(({ plan }) => plan !== undefined && !Object.hasOwn(config.plans, plan)).map(({ id }) => id);
  const managing = [...kept, ...config.auth.keys].filter(mayManage).length;
  if (!hasPepper)
    return {
      active: kept.length + config.auth.keys.length,
      managing,
      unverifiable: 0,
      pepperIsGone: kept.length > 0,
      withoutPlan,
    };
  const { ring } = opened.material();
  for (const row of kept) ring.put(row);
  return { active: ring.size, managing, unverifiable: ring.unverifiable, pepperIsGone: false, withoutPlan };
}

function mayManage({ role, permissions }: { readonly role: string; readonly permissions: readonly Permission[] }): boolean {
  return effectivePermissions(role, permissions).has('keys:manage');
}
