import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { CORRELATION_ID } from '../correlation-id.ts';

type Json = Readonly<Record<string, unknown>>;

const NAME = 'openapi.json';

/** The location of an API's document, and rules derived from its paths. */
export interface DocumentedApi {
  readonly correlationHeader: string;
  readonly correlationId: RegExp;
  readonly documentPath: string;
  /** The paths covered by the document. */
  readonly covers: RegExp;
  /** Schema of every error, as a JSON pointer. */
  readonly errorSchema: string;
  /** Statuses of the HTTP server itself, for any operation. */
  readonly serverStatuses: readonly number[];
  /** Statuses of undocumented paths and methods. */
  readonly undocumentedStatuses: readonly number[];
  /** Whether OPTIONS is served everywhere with 204, and `Allow` follows from the document. */
  readonly hasOptions: boolean;
}

const plainApi = (correlationHeader: string): DocumentedApi => ({
  correlationHeader,
  correlationId: CORRELATION_ID,
  documentPath: `/api/${NAME}`,
  covers: /^\/(api(\/|$)|$)/,
  errorSchema: '/components/schemas/Error',
  serverStatuses: [417],
  undocumentedStatuses: [400],
  hasOptions: true,
});

/** Compares every response of a service in this process with the service's own OpenAPI document, by default below `/` and `/api`. A response that
 *  differs from the document becomes a 500 with the reason, so that the test that requested it fails. Disposal fails too. */
export async function verifyResponses(url: string, about: string | DocumentedApi): Promise<Disposable> {
  const api = typeof about === 'string' ? plainApi(about) : about;
  const document = (await (await fetch(url + api.documentPath)).json()) as Json;
  const check = createCheck(document, api);
  const port = Number(new URL(url).port);
  const undocumented: string[] = [];
  const onStart = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    // Not every target is a URL, and parsing would normalize some of them.
    const [path = ''] = (request.url ?? '').split(/[?#]/, 1);
    if (request.socket.localPort !== port || !api.covers.test(path)) return;
    const headersOf = captureHeaders(response);
    interceptEnd(response, (body) => {
      const sent = { status: response.statusCode, header: headersOf, body: textOf(body, headersOf) };
      const mismatch = check(request.method ?? 'GET', path, sent);
      if (mismatch !== undefined) undocumented.push(mismatch);
      return mismatch;
    });
  };
  subscribe('http.server.request.start', onStart);
  return {
    [Symbol.dispose]() {
      unsubscribe('http.server.request.start', onStart);
      if (undocumented.length > 0)
        throw new Error(`responses that the OpenAPI document does not have:\n${undocumented.join('\n')}`);
    },
  };
}

interface SentResponse {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly body: string;
}

/** Reads the headers of a response. Headers written together with the head cannot be read back later. */
function captureHeaders(response: ServerResponse): (name: string) => string | undefined {
  const written = new Map<string, string>();
  const writeHead = response.writeHead.bind(response) as (...values: unknown[]) => ServerResponse;
  response.writeHead = (...values: unknown[]) => {
    const headers = values.find((value) => typeof value === 'object' && value !== null);
    const pairs = Array.isArray(headers)
      ? Array.from({ length: headers.length / 2 }, (_, i) => headers.slice(2 * i, 2 * i + 2) as unknown[])
      : Object.entries(headers ?? {});
    for (const [name, value] of pairs) written.set(String(name).toLowerCase(), String(value));
    return writeHead(...values);
  };
  return (name) => {
    const set = response.getHeader(name);
    return written.get(name.toLowerCase()) ?? (set === undefined ? undefined : String(set));
  };
}

function interceptEnd(response: ServerResponse, check: (body: Buffer) => string | undefined): void {
  const end = response.end.bind(response) as (...values: unknown[]) => ServerResponse;
  const write = response.write.bind(response) as (...values: unknown[]) => boolean;
  const written: Buffer[] = [];
  response.write = ((...values: unknown[]) => {
    written.push(bytesOf(values[0]));
    return write(...values);
  }) as ServerResponse['write'];
  response.end = ((...values: unknown[]) => {
    const mismatch = check(Buffer.concat([...written, bytesOf(values[0])]));
    if (mismatch === undefined || response.headersSent) return end(...values);
    response.statusCode = 500;
    response.removeHeader('Content-Length');
    response.setHeader('Content-Type', 'application/json');
    return end(JSON.stringify({ error: mismatch }));
  }) as ServerResponse['end'];
}

function bytesOf(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  return Buffer.from(typeof chunk === 'string' ? chunk : '');
}

/** A body before its compression. */
function textOf(bytes: Buffer, header: SentResponse['header']): string {
  const isCompressed = header('Content-Encoding') === 'gzip' && bytes.length > 0;
  return (isCompressed ? gunzipSync(bytes) : bytes).toString();
}

/** Returns a function that describes how a response differs from the document, or returns undefined. */
function createCheck(document: Json, api: DocumentedApi) {
  const mismatchOf = validatorOf(document);
  const paths = Object.entries(document['paths'] as Record<string, Record<string, Json>>).map(([path, operations]) => ({
    path,
    operations,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

  return (sent: string, path: string, { status, header, body }: SentResponse): string | undefined => {
    const method = sent === 'HEAD' ? 'GET' : sent;
    const say = (mismatch: string | undefined) =>
      mismatch && `${sent} ${path} responded with ${status}: ${mismatch}; the body was ${body.slice(0, 1_000)}`;
    const known = paths.find(({ path: exact }) => exact === path) ?? paths.find(({ pattern }) => pattern.test(path));
    // HEAD may be undocumented when GET is documented.
    const isOwnHead = !api.hasOptions && sent === 'HEAD' && status === 405;
    const operation = isOwnHead ? undefined : known?.operations[method.toLowerCase()];
    const allow = status === 405 ? allowOf(path, known?.operations) : undefined;
    const badHeader = headerMismatch(header, api, allow, body !== '');
    if (badHeader !== undefined) return say(badHeader);
    if (operation === undefined || api.serverStatuses.includes(status)) {
      if (api.hasOptions && method === 'OPTIONS' && status === 204) return say(body === '' ? undefined : 'a body');
      const expected = [known === undefined ? 404 : 405, ...api.undocumentedStatuses, ...api.serverStatuses];
      if (!expected.includes(status)) return say('no such operation is documented');
      return say(sent === 'HEAD' ? undefined : mismatchOf(api.errorSchema, body));
    }
    const documented = (operation['responses'] as Record<string, Json>)[status];
    // A path's 405 is documented with each of its operations, because OpenAPI has no place for it on the path.
    if (documented === undefined || status === 405) return say('this status is not documented');
    if (sent === 'HEAD') return undefined;
    const pointer =
      typeof documented['$ref'] === 'string'
        ? documented['$ref'].slice(1)
        : `/paths/${escaped(known?.path ?? '')}/${method.toLowerCase()}/responses/${status}`;
    const isEmpty = documented['$ref'] === undefined && documented['content'] === undefined;
    if (isEmpty) return say(body === '' ? undefined : 'a body');
    return say(mismatchOf(`${pointer}/content/application~1json/schema`, body));
  };
}

type Validator = (pointer: string, body: string) => string | undefined;

/** By the text of the document, because compiling its schemas takes longer than most tests of a service. */
const VALIDATORS = new Map<string, Validator>();

function validatorOf(document: Json): Validator {
  const text = JSON.stringify(document);
  const validator = VALIDATORS.get(text) ?? createValidator(document);
  VALIDATORS.set(text, validator);
  return validator;
}

/** Returns a function that compares a JSON body with the schema at a pointer into the document. */
function createValidator(document: Json): Validator {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  addFormats.default(ajv);
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema(document, NAME);
  const validators = new Map<string, ValidateFunction>();
  return (pointer, body) => {
    const validate = validators.get(pointer) ?? ajv.compile({ $ref: `${NAME}#${pointer}` });
    validators.set(pointer, validate);
    return validate(JSON.parse(body)) ? undefined : ajv.errorsText(validate.errors);
  };
}

/** Differences in the headers of a response. */
function headerMismatch(
  header: SentResponse['header'],
  { correlationHeader, correlationId, hasOptions }: DocumentedApi,
  allow: string | undefined,
  hasBody: boolean,
): string | undefined {
  if (!correlationId.test(header(correlationHeader) ?? '')) return `no ${correlationHeader}`;
  const type = header('Content-Type') ?? '';
  if (hasBody && !/^application\/json(;|$)/.test(type)) return `the content type is "${type}"`;
  const sent = header('Allow');
  if (!hasOptions) return (sent === undefined) === (allow === undefined) ? undefined : `Allow is ${sent}`;
  return sent === allow ? undefined : `Allow is ${sent}, and should be ${allow}`;
}

/** The `Allow` header of a path with these operations. */
function allowOf(path: string, operations: Readonly<Record<string, Json>> = {}): string {
  const documented = Object.keys(operations).flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  return [...documented, ...(path === '/' ? [] : ['OPTIONS'])].join(', ');
}

/** A part of a JSON pointer inside a URL. */
function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
