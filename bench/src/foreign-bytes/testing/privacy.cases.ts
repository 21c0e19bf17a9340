import { findAssignedSecrets } from '@vitrine/privacy/credentials/assigned-secrets';
import { looksSecret } from '@vitrine/privacy/credentials/bare-values';
import { findBearerTokens } from '@vitrine/privacy/credentials/bearer-tokens';
import { findPrivateKeys } from '@vitrine/privacy/credentials/private-keys';
import { findTokens } from '@vitrine/privacy/credentials/tokens';
import { framingOf } from '@vitrine/privacy/bodies/body-framing';
import { DeniedFields } from '@vitrine/privacy/bodies/denied-fields';
import { EnclosingNames } from '@vitrine/privacy/bodies/enclosing-name';
import { readEventStream } from '@vitrine/privacy/streams/event-stream';
import { headerOf, headerValuesOf } from '@vitrine/privacy/header-lines';
import { dropIncompleteTail } from '@vitrine/privacy/bodies/body-framing';
import { decodedString, endOfValue } from '@vitrine/privacy/bodies/json-text';
import { findEmails, findPhones, findSsns } from '@vitrine/privacy/personal-data';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { redactPath } from '@vitrine/privacy/scrub';
import { Redactor } from '@vitrine/privacy/redactor';
import { describedValues } from '@vitrine/privacy/bodies/schema-values';
import { findCredentials, isJsonText, scrub } from '@vitrine/privacy/scrub';
import { Scrubber } from '@vitrine/privacy/redaction';
import { findUnescaped } from '@vitrine/privacy/credentials/unescaped-text';
import { findUrlPasswords } from '@vitrine/privacy/credentials/url-passwords';
import {
  inArguments,
  inBrokenEvents,
  inEvents,
  inRequest,
  plain,
  type ForeignBytesCase,
  type Form,
} from './foreign-bytes-case.ts';

const NAMES = ['api_key', 'password', 'secret', 'token', 'card_number'];
const rules = {
  mode: 'redact_storage',
  policyId: 'growth',
  detectors: { email: true, phone: true, ssn: true, token_like: true },
  deniedHeaders: ['x-customer'],
  deniedFields: NAMES,
  format: '[{type}_REDACTED:{hash}]',
  salt: 'growth',
  scopes: [],
} as const;
const context = openPrivacyContext(rules);
const contextOff = openPrivacyContext({ ...rules, mode: 'off' });
const fields = new DeniedFields(NAMES);

const inMember: Form = (text) => `{"api_key": "${text}", "password": {"type": "string", "default": "${text}"}}`;
const inForm: Form = (text) => `api_key=${encodeURIComponent(text)}&a=${text.replaceAll(/\s/g, '+')}`;
const inPart: Form = (text) => `--x\r\nContent-Disposition: form-data; name="api_key"\r\n${text}\r\n\r\n${text}\r\n--x--`;
const inHeaders: Form = (text) => `x-customer\n${text.replaceAll('\n', ' ')}\naccept\n${text}`;
const inAssignments: Form = (text) => `password: ${text}`;
const inKey: Form = (text) => `-----BEGIN PRIVATE KEY-----\n${text}`;
const inUrl: Form = (text) => `h://bob:${text}@host`;

export const privacyCases: readonly ForeignBytesCase[] = [
  {
    of: 'packages/platform/privacy/src/scrub.ts#scrub',
    run: (text) => scrub(text),
    forms: [plain, inRequest, inAssignments, inKey, inUrl],
  },
  { of: 'packages/platform/privacy/src/scrub.ts#findCredentials', run: (text) => findCredentials(text, { withMembers: false }) },
  { of: 'packages/platform/privacy/src/scrub.ts#isJsonText', run: isJsonText },
  {
    of: 'packages/platform/privacy/src/credentials/assigned-secrets.ts#findAssignedSecrets',
    run: (text) => [true, false].map((isJson) => findAssignedSecrets(text, { isJson, withMembers: true })),
  },
  { of: 'packages/platform/privacy/src/credentials/bare-values.ts#looksSecret', run: (text) => looksSecret(text) },
  { of: 'packages/platform/privacy/src/credentials/bearer-tokens.ts#findBearerTokens', run: findBearerTokens },
  { of: 'packages/platform/privacy/src/credentials/tokens.ts#findTokens', run: findTokens },
  {
    of: 'packages/platform/privacy/src/credentials/url-passwords.ts#findUrlPasswords',
    run: findUrlPasswords,
    forms: [plain, inUrl],
  },
  {
    of: 'packages/platform/privacy/src/credentials/private-keys.ts#findPrivateKeys',
    run: (text) => [true, false].map((isJson) => findPrivateKeys(text, isJson)),
    forms: [plain, inKey, (text) => `${inKey(text)}\n-----END PRIVATE KEY-----`],
  },
  {
    of: 'packages/platform/privacy/src/bodies/body-framing.ts#framingOf',
    run: (text) => [undefined, 'sse' as const].map((kind) => framingOf(text, kind)),
  },
  {
    of: 'packages/platform/privacy/src/credentials/unescaped-text.ts#findUnescaped',
    run: (text) => findUnescaped(text, () => []),
  },
  { of: 'packages/platform/privacy/src/scrub.ts#redactPath', run: (text) => redactPath(`/v1/models?key=${text}`) },
  { of: 'packages/platform/privacy/src/personal-data.ts#findEmails', run: findEmails },
  { of: 'packages/platform/privacy/src/personal-data.ts#findPhones', run: findPhones },
  { of: 'packages/platform/privacy/src/personal-data.ts#findSsns', run: findSsns },
  {
    of: 'packages/platform/privacy/src/bodies/denied-fields.ts#DeniedFields',
    run: (text) => [[...fields.membersOf(text)], fields.pairsOf(text), fields.partsOf(text)],
    forms: [plain, inMember, inForm, inPart],
  },
  {
    of: 'packages/platform/privacy/src/bodies/enclosing-name.ts#EnclosingNames',
    run: (text) => {
      const names = new EnclosingNames(text);
      for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) names.around(at);
    },
    forms: [plain, inMember, (text) => `{"properties":${'{"a":'.repeat(text.length / 5)}`],
  },
  {
    of: 'packages/platform/privacy/src/bodies/schema-values.ts#describedValues',
    run: (text) => describedValues(text, 0, text.length, 'properties'),
  },
  {
    of: 'packages/platform/privacy/src/header-lines.ts#headerOf',
    run: (text) => headerOf(text, 'accept'),
    forms: [plain, inHeaders],
  },
  { of: 'packages/platform/privacy/src/header-lines.ts#headerValuesOf', run: headerValuesOf, forms: [plain, inHeaders] },
  { of: 'packages/platform/privacy/src/bodies/body-framing.ts#dropIncompleteTail', run: dropIncompleteTail },
  { of: 'packages/platform/privacy/src/bodies/json-text.ts#decodedString', run: decodedString },
  {
    of: 'packages/platform/privacy/src/bodies/json-text.ts#endOfValue',
    run: (text) => endOfValue(text, 0),
    forms: [plain, (text) => `{${text}`, (text) => `"${text}`],
  },
  {
    of: 'packages/platform/privacy/src/streams/event-stream.ts#readEventStream',
    run: (text) => [[...readEventStream(text, 'sse').texts], [...readEventStream(text, 'lines').texts]],
    forms: [plain, inEvents, inBrokenEvents],
  },
  {
    of: 'packages/platform/privacy/src/redactor.ts#Redactor',
    run: (text) => {
      const redactor = new Redactor(context, 'workspace');
      for (const kind of [undefined, 'json', 'sse'] as const) redactor.body(text, kind, true);
      redactor.headers(text);
    },
    forms: [plain, inRequest, inArguments, inEvents, inBrokenEvents, inMember, inForm, inPart],
  },
  {
    of: 'packages/platform/privacy/src/redactor.ts#Redactor.path',
    run: (text) => new Redactor(context, 'workspace').path(`/v1?${text}`),
  },
  {
    of: 'packages/platform/privacy/src/redaction.ts#Scrubber',
    run: (text) => {
      const scrubber = new Scrubber(new Redactor(contextOff.whenOff ?? contextOff, 'workspace'));
      scrubber.body?.(text, 'json', false);
      scrubber.headers(text);
    },
    forms: [plain, inRequest, inEvents],
  },
];
