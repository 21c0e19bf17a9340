import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** A certificate with its key, both PEM. */
interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  readonly issuer: { readonly name: string; readonly privateKey: KeyObject };
}

interface TestCertificateOptions {
  /** DNS names; the first one is the subject. */
  readonly names: readonly string[];
  /** The issuer; self-signed without one. */
  readonly signedBy?: TestCertificate;
  /** Whether it may sign others. */
  readonly isAuthority?: boolean;
  readonly notAfter?: Date;
}

const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';
const [KEY_USAGE, ALTERNATIVE_NAMES, BASIC_CONSTRAINTS, AUTHORITY_KEY, SUBJECT_KEY] = [
  '551d0f',
  '551d11',
  '551d13',
  '551d23',
  '551d0e',
];
const TAGS = { integer: 0x02, bits: 0x03, bytes: 0x04, oid: 0x06, utf8: 0x0c, time: 0x18, sequence: 0x30, set: 0x31 } as const;
const NOT_BEFORE = new Date('2020-01-01T00:00:00Z');
const FAR_FUTURE = new Date('2126-01-01T00:00:00Z');

/** Creates an X.509 v3 certificate (RFC 5280) with a new P-256 key, in this process, because a machine with only Node has no openssl, and tests
 *  need expired ones, wrong names and custom names. Takes a millisecond. */
export function createTestCertificate(options: TestCertificateOptions): TestCertificate {
  const { names, signedBy, isAuthority = false, notAfter = FAR_FUTURE } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = names[0] ?? 'test';
  const issuer = signedBy?.issuer ?? { name, privateKey };
  const publicInfo = publicKey.export({ type: 'spki', format: 'der' });
  const algorithm = der('sequence', oid(ECDSA_WITH_SHA256));
  const toSign = der(
    'sequence',
    tagged(0, der('integer', Buffer.from([2]))),
    der('integer', Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    distinguishedName(issuer.name),
    der('sequence', time(NOT_BEFORE), time(notAfter)),
    distinguishedName(name),
    publicInfo,
    tagged(3, der('sequence', ...extensionsOf(names, isAuthority, publicInfo, issuer.privateKey))),
  );
  const signature = sign('sha256', toSign, issuer.privateKey);
  const certificate = der('sequence', toSign, algorithm, der('bits', Buffer.from([0]), signature));
  return {
    cert: pem('CERTIFICATE', certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    issuer: { name, privateKey },
  };
}

function extensionsOf(names: readonly string[], isAuthority: boolean, publicInfo: Buffer, signer: KeyObject): Buffer[] {
  const critical = Buffer.from([0x01, 0x01, 0xff]);
  const extension = (id: string, value: Buffer, isCritical = false) =>
    der('sequence', oid(id), ...(isCritical ? [critical] : []), der('bytes', value));
  const signerInfo = createPublicKey(signer.export({ type: 'pkcs8', format: 'pem' })).export({ type: 'spki', format: 'der' });
  return [
    extension(BASIC_CONSTRAINTS, der('sequence', ...(isAuthority ? [critical] : [])), true),
    // keyCertSign and digitalSignature, or digitalSignature alone.
    extension(KEY_USAGE, der('bits', Buffer.from(isAuthority ? [2, 0x84] : [7, 0x80])), true),
    extension(SUBJECT_KEY, der('bytes', keyId(publicInfo))),
    extension(AUTHORITY_KEY, der('sequence', context(0, keyId(signerInfo)))),
    ...(isAuthority
      ? []
      : [extension(ALTERNATIVE_NAMES, der('sequence', ...names.map((name) => context(2, Buffer.from(name)))))]),
  ];
}

function keyId(publicInfo: Buffer): Buffer {
  return createHash('sha1').update(publicInfo).digest();
}

function distinguishedName(name: string): Buffer {
  return der('sequence', der('set', der('sequence', oid(COMMON_NAME), der('utf8', Buffer.from(name)))));
}

function time(date: Date): Buffer {
  return der('time', Buffer.from(`${date.toISOString().replaceAll(/[-:T]|\.\d+Z$/g, '')}Z`));
}

function oid(hex: string): Buffer {
  return der('oid', Buffer.from(hex, 'hex'));
}

function der(tag: keyof typeof TAGS, ...parts: readonly Buffer[]): Buffer {
  return encode(TAGS[tag], parts);
}

/** An explicit, constructed context tag. */
function tagged(number: number, content: Buffer): Buffer {
  return encode(0xa0 + number, [content]);
}

/** An implicit, primitive context tag. */
function context(number: number, content: Buffer): Buffer {
  return encode(0x80 + number, [content]);
}

function encode(tag: number, parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  if (length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
