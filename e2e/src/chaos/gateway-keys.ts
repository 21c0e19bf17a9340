/** Keys of the configuration file that the clients use in turn; one of them is enough to read diagnostics. */
export const GATEWAY_KEYS = Array.from({ length: 8 }, (_, at) => ({
  id: `chaos-${at}`,
  token: `sgk_chaos${at}0123456789abcdefghijklm`,
  org_id: 'chaos',
  workspace_id: `workspace-${at % 2}`,
  role: 'owner',
}));
export const GATEWAY_TOKENS: readonly string[] = GATEWAY_KEYS.map(({ token }) => token);

/** No load reaches it; with a limit, quotas are counted. */
const UNREACHED_TOKENS = 1_000_000_000_000;

/** A configuration file in which each key has a daily limit of tokens. JSON is YAML. */
export function configurationText(tokensPerDay: ReadonlyMap<string, number> = new Map()): string {
  const limitOf = (id: string) => tokensPerDay.get(id) ?? UNREACHED_TOKENS;
  return JSON.stringify({
    auth: { enabled: true, store: 'file', keys: GATEWAY_KEYS.map((key) => ({ ...key, plan: `plan-${key.id}` })) },
    plans: Object.fromEntries(GATEWAY_KEYS.map(({ id }) => [`plan-${id}`, { per_key: { max_tokens_per_day: limitOf(id) } }])),
  });
}
