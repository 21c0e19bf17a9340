import { expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { Fault } from '@vitrine/faults/fault';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { AdmissionControl } from '../admission/admission-control.ts';
import { createApiApp } from './create-api-app.ts';
import { rejectionOfError } from './envelope-rejections.ts';
import type { PlainRoute, RouteMethod } from './plain-route.ts';
import { tooLate } from './request-deadline.ts';
import type { ServedRequest } from './request-events.ts';
import { sendResponse } from './send-response.ts';

const noDatabase = () => Promise.reject(new Error('there is no database'));

/** Responds with the path of the route and its parameters. */
const echo = (path: string, ...methods: RouteMethod[]): PlainRoute => ({
  methods,
  path,
  operationId: path,
  handle: async (incoming, response, { params, search }) =>
    sendResponse(incoming, response, {
      status: 200,
      headers: [],
      body: JSON.stringify([path, { ...params }, search]),
      type: 'application/json',
    }),
});

/** Sends one request to an app of plain routes, which need neither keys nor a database. */
async function send(method: string, path: string, served: (request: ServedRequest) => void = () => {}) {
  const failures: unknown[] = [];
  const app = createApiApp({
    routes: [],
    plainRoutes: [echo('/a/{x}', 'GET'), echo('/a/{x}/b/{y}', 'GET', 'HEAD'), echo('/a/exact', 'POST')],
    admission: new AdmissionControl({
      database: { query: noDatabase, execute: noDatabase },
      connections: 2,
      batchConnections: 1,
      peppers: {
        hashes: new TokenHashes([{ version: 1, secret: new Secret('p'.repeat(32)) }]),
        isComplete: true,
        areComplete: () => Promise.resolve(true),
        verified: () => {},
      },
      clock: () => performance.now(),
    }),
    now: Date.now,
    events: { served, releaseFailed: () => {}, responseFailed: (error) => failures.push(error) },
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const sent = request({ port, method, path, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const body = await text(response);
    return { status: response.statusCode, headers: response.headers, body, failures };
  } finally {
    server.close();
  }
}

test.each<[string, string, unknown[]]>([
  ['GET', '/a/%C3%BC%2F%25', ['/a/{x}', { x: 'ü/%' }, '']],
  ['GET', '/a/%?q=%', ['/a/{x}', {}, 'q=%']],
  ['GET', '/a/%e4/b/ok', ['/a/{x}/b/{y}', { y: 'ok' }, '']],
  ['GET', 'http://other.example/a/1?q', ['/a/{x}', { x: '1' }, 'q']],
  ['GET', 'http://[/a/1', ['/a/{x}', { x: '1' }, '']],
  ['POST', '/a/exact', ['/a/exact', {}, '']],
])('%s %s is routed by its raw path and decoded afterwards', async (method, path, expected) => {
  const { status, body } = await send(method, path);
  expect([status, JSON.parse(body)]).toEqual([200, expected]);
});

test.each([
  ['HEAD', '/a/1', 405, 'GET'],
  ['HEAD', '/a/%', 405, 'GET'],
  ['HEAD', '/a/1/b/2', 200, undefined],
  ['GET', '/a/exact', 405, 'POST'],
  ['OPTIONS', '/a/1', 405, 'GET'],
  ['OPTIONS', '/nothing', 404, undefined],
  ['GET', '/a/1/', 404, undefined],
  ['GET', '/A/1', 404, undefined],
  ['GET', '/a/', 404, undefined],
  ['GET', 'ftp://other.example/a/1', 404, undefined],
])('%s %s is %d without traces of express in the response', async (method, path, status, allow) => {
  const { headers, failures, ...response } = await send(method, path);
  expect([response.status, headers.allow, failures]).toEqual([status, allow, []]);
  const names = ['content-type', 'content-length', 'x-request-id', 'allow', 'date', 'connection'];
  expect(Object.keys(headers).filter((name) => !names.includes(name))).toEqual([]);
  expect(headers['content-type']).toBe('application/json');
});

test('a bug after a handler is reported, and neither express nor Node ends the process', async () => {
  const bug = new Error('no metrics');
  const { failures } = await send('GET', '/a/1', () => {
    throw bug;
  });
  expect(failures).toEqual([bug]);
});

const withCode = (code: string) => Object.assign(new Error('of the database'), { code });

test.each([
  ['the server has no connection left', withCode('53300')],
  ['the server has no memory', withCode('53200')],
  ['a deadlock', withCode('40P01')],
  ['too many calls wait for a connection', new Fault('postgres_pool_full', { say: 'full' })],
  ['no connection got free in time', new Error('timeout exceeded when trying to connect')],
  ['the server accepts no connection in time', new Error('timeout expired')],
  ['a bound of this process', new Fault('overloaded', { say: 'overloaded', log: { bound: 'workspace' } })],
])('%s: 503 overloaded with Retry-After', (_, error) => {
  const headers = ['Retry-After', '1'];
  expect(rejectionOfError(error, true)).toMatchObject({ code: 'overloaded', headers, cause: error });
});

test.each([
  ['the deadline', tooLate(10_000)],
  ['a statement that was cancelled', withCode('57014')],
  ['a lock that was not free in time', withCode('55P03')],
])('%s: a request not admitted in time gets the overload response; an admitted one gets the timeout response', (_, error) => {
  expect(rejectionOfError(error, false)).toMatchObject({ code: 'overloaded' });
  const message = 'the request took longer than 10 s; nothing was billed';
  expect(rejectionOfError(error, true)).toMatchObject({ code: 'internal', message, reason: 'deadline_exceeded' });
});

test.each([
  ['a database that is away', withCode('ECONNREFUSED')],
  ['a table that is missing', withCode('42P01')],
  ['a bug', new TypeError('of ours')],
])('%s is not an overload', (_, error) => {
  expect(rejectionOfError(error, true)).toMatchObject({ code: 'internal' });
});
