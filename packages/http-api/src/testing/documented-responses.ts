import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CORRELATION_ID } from '../correlation-id.ts';

type Json = Readonly<Record<string, unknown>>;

/** Statuses of the HTTP server itself, whatever the operation. */
const OF_THE_SERVER = [417];
const NAME = 'openapi.json';

/** Compares every response below `/` and `/api` of a service in this process with the service's own OpenAPI document. A response that is not as
 *  documented becomes a 500 that says why, so that the test which requested it fails; and so does disposal. */
export async function verifyResponses(url: string, correlationHeader: string): Promise<Disposable> {
  const document = (await (await fetch(`${url}/api/${NAME}`)).json()) as Json;
  const check = createCheck(document, correlationHeader);
  const port = Number(new URL(url).port);
  const undocumented: string[] = [];
  const onStart = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    // Not every target is a URL, and parsing would normalize some that are.
    const [path = ''] = (request.url ?? '').split(/[?#]/, 1);
    if (request.socket.localPort !== port || !/^\/(api(\/|$)|$)/.test(path)) return;
    interceptEnd(response, (body) => {
      const mismatch = check(request.method ?? 'GET', path, response, body);
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

function interceptEnd(response: ServerResponse, check: (body: string) => string | undefined): void {
  const end = response.end.bind(response) as (...values: unknown[]) => ServerResponse;
  const write = response.write.bind(response) as (...values: unknown[]) => boolean;
  let written = '';
  response.write = ((...values: unknown[]) => {
    written += textOf(values[0]);
    return write(...values);
  }) as ServerResponse['write'];
  response.end = ((...values: unknown[]) => {
    const mismatch = check(written + textOf(values[0]));
    if (mismatch === undefined || response.headersSent) return end(...values);
    response.statusCode = 500;
    response.removeHeader('Content-Length');
    response.setHeader('Content-Type', 'application/json');
    return end(JSON.stringify({ error: mismatch }));
  }) as ServerResponse['end'];
}

function textOf(chunk: unknown): string {
  return typeof chunk === 'string' || Buffer.isBuffer(chunk) ? chunk.toString() : '';
}

/** Returns a function that says how a response differs from the document; undefined when it does not. */
function createCheck(document: Json, correlationHeader: string) {
  const mismatchOf = createValidator(document);
  const paths = Object.entries(document['paths'] as Record<string, Record<string, Json>>).map(([path, operations]) => ({
    path,
    operations,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

  return (sent: string, path: string, response: ServerResponse, body: string): string | undefined => {
    const method = sent === 'HEAD' ? 'GET' : sent;
    const status = response.statusCode;
    const say = (mismatch: string | undefined) =>
      mismatch && `${sent} ${path} responded with ${status}: ${mismatch}; the body was ${body.slice(0, 1_000)}`;
    const known = paths.find(({ path: exact }) => exact === path) ?? paths.find(({ pattern }) => pattern.test(path));
    const operation = known?.operations[method.toLowerCase()];
    const allow = status === 405 ? allowOf(path, known?.operations) : undefined;
    const badHeader = headerMismatch(response, { correlationHeader, allow, hasBody: body !== '' });
    if (badHeader !== undefined) return say(badHeader);
    if (operation === undefined || OF_THE_SERVER.includes(status)) {
      if (method === 'OPTIONS' && status === 204) return say(body === '' ? undefined : 'a body');
      const expected = [known === undefined ? 404 : 405, 400, ...OF_THE_SERVER];
      if (!expected.includes(status)) return say('no such operation is documented');
      return say(sent === 'HEAD' ? undefined : mismatchOf('/components/schemas/Error', body));
    }
    const documented = (operation['responses'] as Record<string, Json>)[status];
    // A path's 405 is documented with each of its operations, because a path has no place of its own for it.
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

/** Returns a function that compares a JSON body with the schema at a pointer into the document. */
function createValidator(document: Json): (pointer: string, body: string) => string | undefined {
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

/** What is wrong with the headers of a response; undefined also for headers that were written at once, which cannot be read back. */
function headerMismatch(
  response: ServerResponse,
  expected: { readonly correlationHeader: string; readonly allow: string | undefined; readonly hasBody: boolean },
): string | undefined {
  const { correlationHeader, allow, hasBody } = expected;
  if (response.headersSent) return undefined;
  if (!CORRELATION_ID.test(String(response.getHeader(correlationHeader) ?? ''))) return `no ${correlationHeader}`;
  const type = String(response.getHeader('Content-Type') ?? '');
  if (hasBody && !/^application\/json(;|$)/.test(type)) return `the content type is "${type}"`;
  const sent = response.getHeader('Allow');
  return sent === allow ? undefined : `Allow is ${String(sent)}, and should be ${allow}`;
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
