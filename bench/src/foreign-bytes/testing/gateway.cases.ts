import { CostCheck } from '@vitrine/gateway/limits/cost-check';
import { genaiOperationName } from '@vitrine/gateway/telemetry/exchange-facts';
import { openPriceCatalogue } from '@vitrine/trace-derivation/price-catalogue';
import { readOldHeaders } from '@vitrine/ongoingai-import/old-headers';
import { parseOldTime } from '@vitrine/ongoingai-import/old-time';
import { inspectableText, uninspectableReason } from '@vitrine/gateway/proxy/privacy/inspectable-body';
import { RequestGuard } from '@vitrine/gateway/proxy/privacy/request-guard';
import { bodyKindOf, contentCodingOf } from '@vitrine/privacy/bodies/body-kind';
import { headerReaders } from '@vitrine/gateway/proxy/exchange/forwarded-headers';
import { providerCredential } from '@vitrine/gateway/proxy/routing/provider-credential';
import { readTarget } from '@vitrine/gateway/proxy/routing/request-target';
import { StreamingUsageReader } from '@vitrine/trace-derivation/streaming-usage-reader';
import { checkCutHead, checkHead } from '@vitrine/gateway/proxy/upstream/head-syntax';
import { readResponseHead } from '@vitrine/gateway/proxy/upstream/response-head';
import { ResponseReader } from '@vitrine/gateway/proxy/upstream/response-reader';
import { readRequestLine } from '@vitrine/http-api/connections/request-line';
import { correlationIdReader } from '@vitrine/http-api/correlation-id';
import { readDate, readDateTime } from '@vitrine/http-api/requests/rfc3339';
import { DEFAULT_SCOPE } from '@vitrine/traces/exchange-scope';
import {
  bytesOf,
  chunksOf,
  ignoringFaults,
  inBrokenEvents,
  inEvents,
  inRequest,
  plain,
  type ForeignBytesCase,
  type Form,
} from './foreign-bytes-case.ts';

const routes = [{ provider: 'openai', prefix: '/openai', upstreamPath: '' }] as const;
const headers = headerReaders('X-Svc-Gateway-Key');
const correlationId = correlationIdReader('X-Svc-Correlation-ID');
const guard = new RequestGuard(
  {
    mode: 'block',
    policyId: 'growth',
    detectors: { email: true, phone: true, ssn: true, token_like: true },
    deniedHeaders: [],
    deniedFields: ['password', 'api_key'],
    format: '[{type}_REDACTED]',
    salt: 'growth',
    scopes: [],
  },
  1_048_576,
);
const rates = openPriceCatalogue().rates('openai', 'gpt-4o', new Date());
const costCheck = new CostCheck({ rates: () => rates }, () => 0);
const consumer = { onHead: () => {}, onData: () => {}, onEnd: () => {} };

const inHead: Form = (text) => `HTTP/1.1 200 ${text}\r\nA: ${text}`;
const inHeaderLines: Form = (text) =>
  `HTTP/1.1 200 OK${text.replaceAll(/[^]{1,32}/g, (part) => `\r\nA: ${part.replaceAll(/[\r\n\0]/g, '')}`)}`;
const inChunks: Form = (text) =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${text.replaceAll(/[^]{1,8}/g, (part) => `${part.length.toString(16)};a="b"\r\n${part}\r\n`)}`;
const inExtension: Form = (text) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${text}`;
const inTrailers: Form = (text) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${text}`;

export const gatewayCases: readonly ForeignBytesCase[] = [
  { of: 'services/gateway/src/proxy/routing/request-target.ts#readTarget', run: (text) => readTarget(`/openai/${text}`, routes) },
  {
    of: 'services/gateway/src/proxy/routing/provider-credential.ts#providerCredential',
    run: (text) => providerCredential({ authorization: `Bearer ${text}`, 'x-api-key': text }),
  },
  { of: 'packages/platform/privacy/src/bodies/body-kind.ts#bodyKindOf', run: bodyKindOf },
  { of: 'packages/platform/privacy/src/bodies/body-kind.ts#contentCodingOf', run: contentCodingOf },
  {
    of: 'services/gateway/src/proxy/exchange/forwarded-headers.ts#headerReaders',
    run: (text) => [headers.request([text, text, ...text.split(' ')], text), headers.response(text.split(','), text)],
  },
  {
    of: 'services/gateway/src/proxy/privacy/inspectable-body.ts#inspectableText',
    run: (text) => inspectableText(bytesOf(text), 'application/json'),
    forms: [plain, inRequest],
  },
  {
    of: 'services/gateway/src/proxy/privacy/inspectable-body.ts#uninspectableReason',
    run: (text) => uninspectableReason({ 'content-type': `application/json; charset=${text}`, 'content-length': text }, 1),
    forms: [plain, (text) => `${text};`.repeat(2)],
  },
  {
    of: 'services/gateway/src/proxy/privacy/request-guard.ts#RequestGuard',
    run: (text) =>
      guard.inspect('block', {
        path: `/openai/v1?${text.slice(0, 8_192)}`,
        headers: ['a', text.slice(0, 16_384)],
        body: bytesOf(text),
        contentType: 'text/plain',
        scope: DEFAULT_SCOPE,
      }),
    forms: [plain, inRequest],
  },
  {
    of: 'services/gateway/src/limits/cost-check.ts#CostCheck',
    run: (text) => {
      const path = `/v1/${text.slice(0, 8_192)}`;
      costCheck.rejection({ provider: 'openai', path, contentType: `application/json; ${path}`, body: bytesOf(text) });
      costCheck.rejection({ provider: 'openai', path, contentType: 'multipart/form-data; boundary=b', body: bytesOf(text) });
    },
    forms: [plain, inRequest, (text) => `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${text}\r\n--b--`],
  },
  {
    of: 'packages/traces/derivation/src/streaming-usage-reader.ts#StreamingUsageReader',
    run: (text) => {
      const reader = new StreamingUsageReader({ kind: 'sse', coding: '' }, () => {});
      for (const chunk of chunksOf(text)) reader.push(chunk);
      reader.facts(true);
    },
    forms: [plain, inEvents, inBrokenEvents],
  },
  {
    of: 'services/gateway/src/proxy/upstream/head-syntax.ts#checkHead',
    run: (text) => ignoringFaults(() => checkHead(text)),
    forms: [plain, inHead, inHeaderLines],
  },
  {
    of: 'services/gateway/src/proxy/upstream/head-syntax.ts#checkCutHead',
    run: (text) => ignoringFaults(() => checkCutHead(text)),
    forms: [plain, inHead, inHeaderLines],
  },
  {
    of: 'services/gateway/src/proxy/upstream/response-head.ts#readResponseHead',
    run: (text) => ignoringFaults(() => readResponseHead(text, false)),
    forms: [plain, inHead, inHeaderLines],
  },
  {
    of: 'services/gateway/src/proxy/upstream/response-reader.ts#ResponseReader',
    run: (text) =>
      ignoringFaults(() => {
        const reader = new ResponseReader(consumer, false);
        for (const chunk of chunksOf(text)) reader.push(chunk);
      }),
    forms: [plain, inHead, inHeaderLines, inChunks, inExtension, inTrailers],
  },
  {
    of: 'services/gateway/src/telemetry/exchange-facts.ts#genaiOperationName',
    run: (text) => genaiOperationName(`/v1/${text}`),
  },
  {
    of: 'packages/traces/ongoingai-import/src/old-time.ts#parseOldTime',
    run: parseOldTime,
    forms: [plain, (text) => `2026-01-01 00:00:00${text}`],
  },
  {
    of: 'packages/traces/ongoingai-import/src/old-headers.ts#readOldHeaders',
    run: (text) => readOldHeaders(text, 'x-key'),
    forms: [
      plain,
      (text) => JSON.stringify({ [text]: [text] }),
      (text) => JSON.stringify({ authorization: [text], accept: text }),
    ],
  },
  {
    of: 'packages/platform/http-api/src/connections/request-line.ts#readRequestLine',
    run: (text) => readRequestLine(bytesOf(text)),
  },
  {
    of: 'packages/platform/http-api/src/correlation-id.ts#correlationIdReader',
    run: (text) => correlationId({ 'x-request-id': text }),
  },
  {
    of: 'packages/platform/http-api/src/requests/rfc3339.ts#readDateTime',
    run: readDateTime,
    forms: [plain, (text) => `2026-01-01T00:00:00.${text}Z`],
  },
  { of: 'packages/platform/http-api/src/requests/rfc3339.ts#readDate', run: readDate },
];
