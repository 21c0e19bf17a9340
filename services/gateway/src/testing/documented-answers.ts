import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

type Json = Readonly<Record<string, unknown>>;

/** What the HTTP server answers by itself, whatever the operation. */
const REFUSED_BY_THE_SERVER = [417];
const NAME = 'openapi.json';

/** Compares every answer that a gateway in this process gives below `/` and `/api` with the gateway's own description. An answer
 *  that is not as described becomes a 500 that says why, so that the test which asked for it fails; and so does disposal. */
export async function watchAnswers(url: string): Promise<Disposable> {
  const description = (await (await fetch(`${url}/api/${NAME}`)).json()) as Json;
  const check = createCheck(description);
  const port = Number(new URL(url).port);
  const undocumented: string[] = [];
  const onStart = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    // Not every target is a URL's, and some that are would be tidied up.
    const [path = ''] = (request.url ?? '').split(/[?#]/, 1);
    if (request.socket.localPort !== port || !/^\/(api(\/|$)|$)/.test(path)) return;
    watchEnd(response, (body) => {
      const fault = check(request.method ?? 'GET', path, response, body);
      if (fault !== undefined) undocumented.push(fault);
      return fault;
    });
  };
  subscribe('http.server.request.start', onStart);
  return {
    [Symbol.dispose]() {
      unsubscribe('http.server.request.start', onStart);
      if (undocumented.length > 0)
        throw new Error(`answers that the API's description does not know:\n${undocumented.join('\n')}`);
    },
  };
}

function watchEnd(response: ServerResponse, check: (body: string) => string | undefined): void {
  const end = response.end.bind(response) as (...values: unknown[]) => ServerResponse;
  const write = response.write.bind(response) as (...values: unknown[]) => boolean;
  let written = '';
  response.write = ((...values: unknown[]) => {
    written += textOf(values[0]);
    return write(...values);
  }) as ServerResponse['write'];
  response.end = ((...values: unknown[]) => {
    const fault = check(written + textOf(values[0]));
    if (fault === undefined || response.headersSent) return end(...values);
    response.statusCode = 500;
    response.removeHeader('Content-Length');
    response.setHeader('Content-Type', 'application/json');
    return end(JSON.stringify({ error: fault }));
  }) as ServerResponse['end'];
}

function textOf(chunk: unknown): string {
  return typeof chunk === 'string' || Buffer.isBuffer(chunk) ? chunk.toString() : '';
}

/** What is wrong with an answer, or undefined. */
function createCheck(description: Json) {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  addFormats.default(ajv);
  ajv.addVocabulary(Object.keys(description));
  ajv.addSchema(description, NAME);
  const validators = new Map<string, ValidateFunction>();
  const faultOf = (pointer: string, body: string): string | undefined => {
    const validate = validators.get(pointer) ?? ajv.compile({ $ref: `${NAME}#${pointer}` });
    validators.set(pointer, validate);
    return validate(JSON.parse(body)) ? undefined : ajv.errorsText(validate.errors);
  };
  const paths = Object.entries(description['paths'] as Record<string, Record<string, Json>>).map(([path, operations]) => ({
    path,
    operations,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

  return (asked: string, path: string, response: ServerResponse, body: string): string | undefined => {
    const method = asked === 'HEAD' ? 'GET' : asked;
    const status = response.statusCode;
    const say = (fault: string | undefined) =>
      fault === undefined ? undefined : `${asked} ${path} answered ${status}: ${fault}; the body was ${body.slice(0, 1_000)}`;
    const known = paths.find(({ path: exact }) => exact === path) ?? paths.find(({ pattern }) => pattern.test(path));
    const described = known?.operations[method.toLowerCase()];
    const badHeader = headerFault(response, status === 405 ? allowOf(path, known?.operations) : undefined, body !== '');
    if (badHeader !== undefined) return say(badHeader);
    if (described === undefined || REFUSED_BY_THE_SERVER.includes(status)) {
      if (method === 'OPTIONS' && status === 204) return say(body === '' ? undefined : 'a body');
      const expected = [known === undefined ? 404 : 405, 400, ...REFUSED_BY_THE_SERVER];
      if (!expected.includes(status)) return say('no such operation is described');
      return say(asked === 'HEAD' ? undefined : faultOf('/components/schemas/Error', body));
    }
    const answer = (described['responses'] as Record<string, Json>)[status];
    // A path's 405 is described with each of its operations, because a path has no place of its own for it.
    if (answer === undefined || status === 405) return say('this status is not described');
    if (asked === 'HEAD') return undefined;
    const pointer =
      typeof answer['$ref'] === 'string'
        ? answer['$ref'].slice(1)
        : `/paths/${escaped(known?.path ?? '')}/${method.toLowerCase()}/responses/${status}`;
    const isEmpty = answer['$ref'] === undefined && answer['content'] === undefined;
    if (isEmpty) return say(body === '' ? undefined : 'a body');
    return say(faultOf(`${pointer}/content/application~1json/schema`, body));
  };
}

/** What is wrong with the headers of an answer, or undefined; those that were written at once cannot be read back. */
function headerFault(response: ServerResponse, allow: string | undefined, hasBody: boolean): string | undefined {
  if (response.headersSent) return undefined;
  if (!/^[A-Za-z0-9\-_.:]{1,128}$/.test(String(response.getHeader('X-Svc-Correlation-ID') ?? '')))
    return 'no X-Svc-Correlation-ID';
  const type = String(response.getHeader('Content-Type') ?? '');
  if (hasBody && !/^application\/json(;|$)/.test(type)) return `the content type is "${type}"`;
  const named = response.getHeader('Allow');
  return named === allow ? undefined : `Allow is ${String(named)}, and should be ${allow}`;
}

/** What Allow has to name for a path of these operations. */
function allowOf(path: string, operations: Readonly<Record<string, Json>> | undefined): string {
  const described = Object.keys(operations ?? {}).flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  return [...described, ...(path === '/' ? [] : ['OPTIONS'])].join(', ');
}

/** A part of a JSON pointer inside a URL. */
function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
