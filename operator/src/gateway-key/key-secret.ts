import { CHOSEN_TOKEN } from '@vitrine/credentials/token';
import type { TokenHash, TokenHashes } from '@vitrine/credentials/token-hashes';
import type { ManagedKey } from '@vitrine/gateway-keys/managed-key';
import { API_VERSION } from '../custom-resources/custom-resource.ts';
import { ROTATE, type GatewayKeyObject } from './gateway-key-resource.ts';
import type { GatewayKeySpec } from './gateway-key-spec.ts';
import type { ObservedSecret, SecretObject, TokenState } from './observed-key.ts';
import type { OperatorConfig } from '../config.ts';

export const MANAGED_BY = { label: 'app.kubernetes.io/managed-by', value: 'vitrine-operator' };
const ROTATED_AT = 'vitrine.dev/rotated-at';
const TRIGGER = 'vitrine.dev/rotation-trigger';
const SHOWN_CHARACTERS = 4;

/** The token in a Secret; undefined without a possible token. Editors end files with a line break. */
export function tokenIn(secret: SecretObject, key: string): string | undefined {
  const text = Buffer.from(secret.data?.[key] ?? '', 'base64')
    .toString()
    .replace(/\r?\n$/, '');
  return CHOSEN_TOKEN.test(text) ? text : undefined;
}

export function observeSecret(
  secret: SecretObject,
  object: GatewayKeyObject,
  spec: GatewayKeySpec,
  keyId: string,
  row: ManagedKey | undefined,
  hashes: TokenHashes,
  clients: ClientSettings,
): ObservedSecret {
  const { annotations = {}, labels = {}, ownerReferences = [] } = secret.metadata;
  const token = tokenIn(secret, spec.tokenSecretRef?.key ?? 'token');
  const id = Buffer.from(secret.data?.['id'] ?? '', 'base64').toString();
  const rotatedAt = Date.parse(annotations[ROTATED_AT] ?? '');
  return {
    isOwn: ownerReferences.some(({ uid }) => uid === object.metadata.uid),
    isOrphan: ownerReferences.length === 0 && labels[MANAGED_BY.label] === MANAGED_BY.value && id === keyId,
    token: token === undefined ? 'malformed' : tokenState(hashes, token, row),
    prefix: token === undefined ? '' : prefixOf(token),
    rotatedAt: Number.isNaN(rotatedAt) ? undefined : rotatedAt,
    handledRotation: annotations[ROTATE],
    handledTrigger: annotations[TRIGGER],
    isDescribed: isDescribed(secret, object, spec) && hasAll(secret.data, describedData(secret, keyId, clients)),
  };
}

/** Metadata of the Secret of a key. */
export function secretMetadata(object: GatewayKeyObject, { secretTemplate }: GatewayKeySpec) {
  const { name, uid } = object.metadata;
  return {
    labels: { ...secretTemplate?.labels, [MANAGED_BY.label]: MANAGED_BY.value },
    annotations: { ...secretTemplate?.annotations },
    ownerReferences: [{ apiVersion: API_VERSION, kind: 'GatewayKey', name, uid, controller: true }],
  };
}

/** Annotations that record the requests for which the token was created. They are on the Secret and not in the status, which a cache may return
 *  too late. */
export function rotationAnnotations(object: GatewayKeyObject, { rotation }: GatewayKeySpec, now: number): Record<string, string> {
  const rotate = object.metadata.annotations?.[ROTATE];
  return {
    [ROTATED_AT]: new Date(now).toISOString(),
    ...(rotate !== undefined && { [ROTATE]: rotate }),
    ...(rotation?.trigger !== undefined && { [TRIGGER]: rotation.trigger }),
  };
}

export function secretData(token: string, keyId: string, clients: ClientSettings): Readonly<Record<string, string>> {
  return encoded({ token, id: keyId, ...clientVariables(clients, token) });
}

/** The data of an operator Secret that is derived from its token. */
export function describedData(secret: SecretObject, keyId: string, clients: ClientSettings): Readonly<Record<string, string>> {
  const token = tokenIn(secret, 'token');
  return encoded({ id: keyId, ...(token !== undefined && clientVariables(clients, token)) });
}

function encoded(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));
}

export function isHashOf(hashes: TokenHashes, token: string, hash: TokenHash | undefined): boolean {
  if (hash === undefined) return false;
  return hashes
    .all(token)
    .some((one) => one.pepper_version === hash.pepper_version && Buffer.compare(one.token_mac, hash.token_mac) === 0);
}

function tokenState(hashes: TokenHashes, token: string, row: ManagedKey | undefined): TokenState {
  if (isHashOf(hashes, token, row?.token)) return 'current';
  return isHashOf(hashes, token, row?.next) ? 'next' : 'other';
}

/** The tag of a token, such as `sgk_`, and four characters. */
function prefixOf(token: string): string {
  const [tag = ''] = /^[a-z]{2,8}_/.exec(token) ?? [];
  return token.slice(0, tag.length + SHOWN_CHARACTERS);
}

function isDescribed({ metadata }: SecretObject, object: GatewayKeyObject, spec: GatewayKeySpec): boolean {
  const { labels, annotations, ownerReferences } = secretMetadata(object, spec);
  const isOwned = metadata.ownerReferences?.some(({ uid }) => uid === ownerReferences[0]?.uid) === true;
  return isOwned && hasAll(metadata.labels, labels) && hasAll(metadata.annotations, annotations);
}

function hasAll(have: Readonly<Record<string, string>> = {}, want: Readonly<Record<string, string>>): boolean {
  return Object.entries(want).every(([key, value]) => have[key] === value);
}

/** The address of the gateway for clients, and the header of its key. */
export type ClientSettings = OperatorConfig['clients'];

/** Variables read by the SDKs of OpenAI and Anthropic, so that a client needs only `envFrom` and a key of its provider. */
function clientVariables(settings: ClientSettings, token: string): Readonly<Record<string, string>> {
  const headers = `${settings.key_header}: ${token}`;
  const { openai_base_url: openai, anthropic_base_url: anthropic } = settings;
  return {
    ...(openai !== undefined && { OPENAI_BASE_URL: openai, OPENAI_CUSTOM_HEADERS: headers }),
    ...(anthropic !== undefined && { ANTHROPIC_BASE_URL: anthropic, ANTHROPIC_CUSTOM_HEADERS: headers }),
  };
}
