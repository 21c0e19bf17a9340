import { decodeFrames } from '@vitrine/kafka/spool/record-frames';
import { NO_FACTS } from '@vitrine/trace-derivation/body-facts';
import { withUsage } from '@vitrine/trace-derivation/usage-report';
import { openBodyFactsReader } from '@vitrine/trace-derivation/body-facts-reader';
import { decodeFar, decodeWhole } from '@vitrine/trace-derivation/decode';
import { deriveTrace } from '@vitrine/trace-derivation/derive-trace';
import { InputEstimate } from '@vitrine/trace-derivation/estimate/input-estimate';
import { mediaOf } from '@vitrine/trace-derivation/estimate/media-of';
import { OutputEstimate } from '@vitrine/trace-derivation/estimate/output-estimate';
import { keyIn, parsed } from '@vitrine/trace-derivation/key-paths';
import { boundaryOf } from '@vitrine/trace-derivation/multipart/boundary';
import { MultipartReader } from '@vitrine/trace-derivation/multipart/multipart-reader';
import { openPriceCatalogue } from '@vitrine/trace-derivation/price-catalogue';
import { skipIrrelevantEvents } from '@vitrine/trace-derivation/skip-events';
import { finishedResponse, usagePathOf } from '@vitrine/trace-derivation/stored-responses';
import { readUsage } from '@vitrine/trace-derivation/usage';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { decodeRecords } from '@vitrine/trace-writer/consume/record-handler';
import { DEFAULT_SCOPE } from '@vitrine/traces/exchange-scope';
import { readLineage } from '@vitrine/traces/lineage-headers';
import { readTexts } from '@vitrine/traces/record-texts';
import { decodeTraceRecord } from '@vitrine/traces/trace-record-codec';
import { readCursor } from '@vitrine/traces/trace-store';
import { traceIdIn } from '@vitrine/traces/traceparent';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  bytesOf,
  chunksOf,
  ignoringFaults,
  inArguments,
  inBrokenEvents,
  inEvents,
  inRequest,
  plain,
  type ForeignBytesCase,
  type Form,
} from './foreign-bytes-case.ts';

const MAX_BYTES = 16 * 1_048_576;
const policy = {
  captureBodies: true,
  bodyMaxSize: 1_048_576,
  privacy: {
    mode: 'redact_storage',
    policyId: 'growth',
    detectors: { email: true, phone: true, ssn: true, token_like: true },
    deniedHeaders: ['x-customer'],
    deniedFields: ['password', 'api_key'],
    format: '[{type}_REDACTED]',
    salt: 'growth',
    scopes: [],
  },
} as const;
const context = {
  policy,
  privacy: openPrivacyContext(policy.privacy),
  prices: openPriceCatalogue({}),
  cpuMs: () => 0,
};
const inUsage: Form = (text) => `{"id":${JSON.stringify(text)},"usage":{"total_tokens":3}}`;
const inImage: Form = (text) => `{"input":[{"type":"input_image","image_url":"data:image/png;base64,${text}`;
const inRecord: Form = (text) => `{"version":2,"texts":["metadata"]}\x1e${text}`;
const inForm: Form = (text) => `--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n${text}\r\n--b--`;
const inPartHeaders: Form = (text) => `--b\r\nContent-Disposition: form-data; name="${text}"\r\n\r\n\r\n--b--`;
const inLineage: Form = (text) => `x-svc-thread-id\n${text.replaceAll('\n', ' ')}\n${text}`;

function derive(text: string): void {
  const body = (kind: 'json' | 'sse') => {
    const bytes = bytesOf(text);
    return { kind, coding: '', chunks: [bytes], bytes: bytes.length, ending: 'cut', facts: undefined } as const;
  };
  const exchange = {
    provider: 'openai',
    scope: DEFAULT_SCOPE,
    method: 'POST',
    path: `/openai/v1/responses/${text.slice(0, 8_192)}`,
    sentStatus: 200,
    outcome: 'completed',
    startedAt: 0,
    endedAt: 1,
    latencyUs: 1_000,
    firstByteUs: 0,
    correlationId: '',
    otelTraceId: '',
    requestHeaders: `x-a\n${text.slice(0, 16_384).replaceAll('\n', ' ')}`,
    responseHeaders: '',
    secretHeaders: 0,
    hasLineage: true,
    credential: '',
    findings: '',
    upstreamError: undefined,
    upstreamErrorDetail: '',
    retries: 0,
    request: body('json'),
    response: body('sse'),
    responseChunks: 1,
  } as const;
  deriveTrace(exchange, context, new Uint8Array(16));
}

export const traceCases: readonly ForeignBytesCase[] = [
  {
    of: 'packages/traces/derivation/src/derive-trace.ts#deriveTrace',
    run: derive,
    forms: [plain, inRequest, inArguments, inEvents, inBrokenEvents],
  },
  {
    of: 'packages/traces/derivation/src/body-facts-reader.ts#openBodyFactsReader',
    run: (text) => {
      for (const kind of ['json', 'jsonl', 'sse'] as const) {
        const reader = openBodyFactsReader(kind);
        for (const chunk of chunksOf(text)) reader.push(chunk);
        reader.end();
        // Like the arrival of a compressed body.
        const whole = openBodyFactsReader(kind);
        whole.push(Buffer.from(text));
        whole.end();
      }
    },
    forms: [plain, inUsage, inRequest, inEvents, inBrokenEvents],
  },
  {
    of: 'packages/traces/derivation/src/multipart/multipart-reader.ts#MultipartReader',
    run: (text) => {
      const reader = new MultipartReader('b');
      for (const chunk of chunksOf(text)) reader.push(chunk);
      reader.end();
    },
    forms: [plain, inForm, inPartHeaders, (text) => `--b\r\n\r\n${text.replaceAll(/.{1,8}/g, '\r\n--b $&')}`],
  },
  {
    of: 'packages/traces/derivation/src/multipart/boundary.ts#boundaryOf',
    run: (text) => boundaryOf(`multipart/form-data; ${text}`),
  },
  {
    of: 'packages/traces/derivation/src/decode.ts#decodeWhole',
    run: (text) => [
      decodeWhole('gzip', gzipSync(text), { maxBytes: MAX_BYTES, complete: true }),
      decodeWhole('br', brotliCompressSync(text), { maxBytes: MAX_BYTES, complete: true }),
    ],
  },
  {
    of: 'packages/traces/derivation/src/decode.ts#decodeFar',
    run: (text) => [
      decodeFar('deflate', bytesOf(text), { maxBytes: MAX_BYTES, complete: true }),
      decodeFar('gzip', gzipSync(text).subarray(0, -9), { maxBytes: MAX_BYTES, complete: true }),
      decodeFar(text, bytesOf('x'), { maxBytes: MAX_BYTES, complete: true }),
    ],
  },
  {
    of: 'packages/traces/derivation/src/estimate/input-estimate.ts#InputEstimate',
    run: (text) => {
      const estimate = new InputEstimate();
      for (const chunk of chunksOf(text)) estimate.push(chunk);
      return ['gpt-4o', 'claude-opus-4-8', text].map((model) => estimate.tokens(model));
    },
    forms: [plain, inRequest, inArguments, inImage, inBrokenEvents],
  },
  {
    of: 'packages/traces/derivation/src/estimate/output-estimate.ts#OutputEstimate',
    run: (text) => {
      for (const kind of ['json', 'sse'] as const) {
        const estimate = new OutputEstimate(kind);
        for (const chunk of chunksOf(text)) estimate.push(chunk);
        estimate.tokens({ model: text, isCut: true });
      }
    },
    forms: [plain, inEvents, inBrokenEvents],
  },
  {
    of: 'packages/traces/derivation/src/estimate/media-of.ts#mediaOf',
    run: (text) => mediaOf(bytesOf(text)),
    forms: [plain, (text) => `data:image/png;base64,${text}`, (text) => `data:${text};base64,`],
  },
  {
    of: 'packages/traces/derivation/src/key-paths.ts#keyIn',
    run: (text) => keyIn(bytesOf(text), 0, text.length),
  },
  { of: 'packages/traces/derivation/src/key-paths.ts#parsed', run: parsed, forms: [plain, inRequest] },
  {
    of: 'packages/traces/derivation/src/skip-events.ts#skipIrrelevantEvents',
    run: (text) => [true, false].map((needsModel) => skipIrrelevantEvents(text, 0, needsModel)),
    forms: [plain, inEvents, (text) => `"usage":null${text}`.repeat(2)],
  },
  {
    of: 'packages/traces/derivation/src/stored-responses.ts#usagePathOf',
    run: (text) => usagePathOf({ method: 'POST', path: `/openai/v1/responses/${text}` }),
  },
  {
    of: 'packages/traces/derivation/src/stored-responses.ts#finishedResponse',
    run: (text) => finishedResponse({ provider: 'openai', method: 'GET', path: `/openai/v1/responses/${text}` }, undefined),
  },
  {
    of: 'packages/traces/derivation/src/usage.ts#readUsage',
    run: (text) => {
      const usage = withUsage(undefined, parsed(`{"prompt_tokens":1,"prompt_tokens_details":{${text}}}`));
      return readUsage({ ...NO_FACTS, usage }, { provider: 'openai', medium: 'image', asksForHour: () => false });
    },
  },
  {
    of: 'packages/traces/model/src/lineage-headers.ts#readLineage',
    run: (text) => readLineage(text, (value) => value),
    forms: [plain, inLineage],
  },
  { of: 'packages/traces/model/src/traceparent.ts#traceIdIn', run: traceIdIn },
  {
    of: 'packages/traces/model/src/record-texts.ts#readTexts',
    run: (text) => readTexts(text, ['metadata']),
    forms: [plain, inRecord],
  },
  {
    of: 'packages/traces/model/src/trace-record-codec.ts#decodeTraceRecord',
    run: (text) => ignoringFaults(() => decodeTraceRecord(bytesOf(text))),
    forms: [plain, inRecord],
  },
  { of: 'packages/traces/model/src/trace-store.ts#readCursor', run: readCursor },
  { of: 'packages/platform/kafka/src/spool/record-frames.ts#decodeFrames', run: (text) => decodeFrames(bytesOf(text)) },
  {
    of: 'services/trace-writer/src/consume/record-handler.ts#decodeRecords',
    run: (text) =>
      decodeRecords(
        chunksOf(text).map((value) => ({
          topic: 'traces',
          partition: 0,
          offset: '0',
          key: null,
          value,
          headers: {},
          timestamp: 0,
        })),
      ),
    forms: [plain, inRecord],
  },
];
