// Names of `ongoingai/gateway`, the public gateway that first served this API. What is called the same in both is not listed.

/** Its environment variables, each with the one to set instead, or with why there is none. */
export const OLD_VARIABLES: Readonly<Record<string, string>> = {
  ONGOINGAI_HOST: 'SVC_SERVER_HOST',
  ONGOINGAI_PORT: 'SVC_SERVER_PORT',
  ONGOINGAI_STORAGE_DRIVER: 'SVC_STORAGE_DRIVER',
  ONGOINGAI_STORAGE_PATH: 'SVC_STORAGE_PATH, for a file of its own; gateway import --from brings the old one over',
  ONGOINGAI_STORAGE_DSN: 'none: traces are kept in SQLite, at SVC_STORAGE_PATH',
  ONGOINGAI_OPENAI_UPSTREAM: 'SVC_PROVIDERS_OPENAI_UPSTREAM',
  ONGOINGAI_ANTHROPIC_UPSTREAM: 'SVC_PROVIDERS_ANTHROPIC_UPSTREAM',
  ONGOINGAI_CAPTURE_BODIES: 'SVC_TRACING_CAPTURE_BODIES',
  ONGOINGAI_BODY_MAX_SIZE: 'SVC_TRACING_BODY_MAX_SIZE',
  ONGOINGAI_PROMETHEUS_ENABLED: 'SVC_PROMETHEUS_ENABLED',
  ONGOINGAI_PROMETHEUS_PATH: 'SVC_PROMETHEUS_PATH',
  ONGOINGAI_PII_MODE: 'SVC_PII_MODE',
  ONGOINGAI_PII_POLICY_ID: 'SVC_PII_POLICY_ID',
  ONGOINGAI_PII_HASH_SALT: 'SVC_PII_REPLACEMENT_HASH_SALT',
  ONGOINGAI_AUTH_ENABLED: 'SVC_AUTH_ENABLED',
  ONGOINGAI_AUTH_HEADER: 'SVC_AUTH_HEADER',
};

/** Keys of its YAML file that this gateway does not have. `[]` stands for a place in a list. */
export const OLD_KEYS: Readonly<Record<string, string>> = {
  'storage.dsn': 'there is none here: traces are kept in SQLite, at storage.path',
  'pii.stages': 'leave it out: headers and bodies of both directions are always looked at',
  'auth.keys[].team': 'use auth.keys[].workspace_id',
  'auth.keys[].created_by': 'leave it out: keys of the file were made by system',
};

/** Where it looked for its configuration unless told. */
export const OLD_CONFIG_FILE = 'ongoingai.yaml';

const PREFIX = 'ONGOINGAI_';

/** Its variables that are set, with their successors; their values are looked at by nobody. */
export function oldVariablesIn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = Object.keys(env).filter((name) => name.startsWith(PREFIX));
  return Object.fromEntries(names.toSorted().map((name) => [name, OLD_VARIABLES[name] ?? 'none']));
}

/** What to do about a key of its YAML file, as faults of the configuration name it (`auth.keys.0.team`). */
export function oldKeyHint(path: string): string | undefined {
  const hint = OLD_KEYS[path.replaceAll(/\.\d+(?=\.|$)/g, '[]')];
  return hint && `it was a key of ongoingai/gateway; ${hint}`;
}
