import { listedPeppers, pepperCells, type ListedPepper } from '@vitrine/credentials/listed-peppers';
import { pepperProblem, pepperProblemText } from '@vitrine/credentials/pepper-problem';
import { isFault } from '@vitrine/faults/fault';
import type { KeyReader } from '@vitrine/gateway-keys/key-store';
import type { Permission } from '@vitrine/gateway-keys/permission';
import { effectivePermissions } from '@vitrine/gateway-keys/role';
import { createLogger } from '@vitrine/telemetry/logger';
import { existsSync } from 'node:fs';
import { keyFiles } from '../../auth/keys/key-files.ts';
import { pepperSetting, reasonOf } from '../../auth/open-auth.ts';
import { readKeys } from '../../auth/keys/open-key-store.ts';
import { openKeys } from '../../auth/keys/open-keys.ts';
import type { GatewayConfig } from '../../config.ts';
import { resultOf, type Check } from './check.ts';

const found = resultOf('auth_posture');

/** Checks whether requests need a key, and whether the keys are usable. Creates no files. `plans`: the names of all plans. */
export async function checkAuth(config: GatewayConfig, plans: readonly string[]): Promise<Check> {
  const { auth, server } = config;
  if (!auth.enabled) {
    const details = [`auth.enabled is false; the gateway listens on ${server.host}`];
    return found('warn', 'no key is required: everyone who reaches the port may use the gateway and read every trace', details);
  }
  try {
    const { active, managing, peppers, problem, withoutPlan } = await countKeys(config, plans);
    const details = [
      `header: ${auth.header}`,
      `keys: ${active} (${managing} may manage keys)`,
      ...(peppers.length > 1 ? peppers.map(pepperLine) : []),
      ...(withoutPlan.length > 0 ? [`keys with an unknown plan: ${withoutPlan.length}, such as ${withoutPlan[0]}`] : []),
    ];
    if (problem !== undefined)
      return found('fail', `${pepperProblemText(problem)}: put it back into ${pepperSetting(auth)}`, details);
    if (active === 0)
      return found(
        'fail',
        'there is no gateway key, so every request is rejected; create one: gateway keys create --role owner',
        details,
      );
    if (withoutPlan.length > 0)
      return found('warn', 'requests of some keys are rejected, because their plan does not exist', details);
    return found('pass', 'requests need a gateway key', details);
  } catch (error) {
    if (!isFault(error)) throw error;
    return found('fail', 'the gateway keys cannot be read', [...new Set([error.say, reasonOf(error)])]);
  }
}

function pepperLine(pepper: ListedPepper): string {
  const [version, tokens, state] = pepperCells(pepper);
  return `pepper ${version}: ${tokens} tokens; ${state}`;
}

async function countKeys(config: GatewayConfig, plans: readonly string[]) {
  const { auth, storage } = config;
  await using opened = await openKeys(config, createLogger('svc-gateway', 'silent', { write: () => true }));
  const stored = auth.store === 'database' ? await readKeys(storage, readAll) : undefined;
  const { rows, peppers } = stored ?? { rows: [], peppers: { recorded: [], used: [] } };
  // Reading the peppers would make a missing file.
  const hasPepper = auth.peppers.length > 0 || auth.store === 'file' || existsSync(keyFiles(storage.path).pepper);
  const configured = hasPepper ? opened.material().hashes.identities : [];
  const keys = [...rows.filter(({ id }) => !auth.keys.some((key) => key.id === id)), ...auth.keys];
  return {
    active: keys.length,
    managing: keys.filter(mayManage).length,
    peppers: listedPeppers(configured, peppers),
    problem: pepperProblem(configured, peppers),
    withoutPlan: keys.filter(({ plan }) => plan !== undefined && !plans.includes(plan)).map(({ id }) => id),
  };
}

async function readAll(reader: KeyReader) {
  return { rows: await reader.list(undefined), peppers: await reader.storedPeppers() };
}

function mayManage({ role, permissions }: { readonly role: string; readonly permissions: readonly Permission[] }): boolean {
  return effectivePermissions(role, permissions).has('keys:manage');
}
