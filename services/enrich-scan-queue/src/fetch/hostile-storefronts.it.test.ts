import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { once } from 'node:events';
import {
  HOSTILE_BEHAVIOURS,
  startHostileServer,
  type HostileName,
  type HostileServer,
} from '@vitrine/testkit/storefronts/hostile-server';
import { createTestCertificate } from '@vitrine/testkit/storefronts/test-certificate';
import type { ScanAttempt, ScanCapture } from '../scan/scan-ports.ts';
import { dialTcp, type Dial } from './network/connect-pinned.ts';
import { scanFixture, type FixtureScanOptions } from './testing/scan-fixture.ts';

const PUBLIC_ADDRESS = '93.184.216.34';
/** Decoded, a bomb has up to 1 GiB. */
const MAX_GROWTH_BYTES = 400 * 1024 * 1024;

/** Listens on addresses that a scanner must not connect to: all of this machine, on a port that `dial` uses instead of 80 and 443. */
class Canary {
  connections = 0;
  bytes = 0;
  readonly dialled: string[] = [];
  readonly #server: Server = createServer((socket) => {
    this.connections += 1;
    socket.on('error', () => {});
    socket.on('data', (chunk) => void (this.bytes += chunk.length));
    socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<html>secret</html>');
  });

  async listen(): Promise<this> {
    this.#server.listen(0, '::');
    await once(this.#server, 'listening');
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connects to the requested address on the port of the canary. Fixtures have other ports. */
  readonly dial: Dial = (address, port) => {
    if (port !== 80 && port !== 443) return dialTcp(address, port);
    this.dialled.push(address);
    return connect({ host: address, port: this.port });
  };

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }
}

let canary: Canary;
let hostile: HostileServer;

beforeAll(async () => {
  canary = await new Canary().listen();
  hostile = await startHostileServer((path, response) => {
    // A storefront that redirects to whatever its path says.
    const location = decodeURIComponent(path.replace(/^\/(?:\?to=)?/, ''));
    if (location === '') response.writeHead(302, { location: '/?to=unset' }).end();
    else response.writeHead(302, { location }).end();
  });
});
afterAll(async () => {
  await canary.close();
  await hostile[Symbol.asyncDispose]();
});

const scan = async (domain: string, options: FixtureScanOptions = {}): Promise<ScanCapture | ScanAttempt> =>
  (await scanFixture(domain, { dial: canary.dial, ...options })).result;

/** Spec: S8.5: only public addresses, for literals, for every resolved address, at every redirect, and after connect. */
describe('no request reaches an address that is not public', () => {
  const LITERALS =
    `127.0.0.1 127.1 0x7f.1 2130706433 017700000001 0177.0.0.1 0 0.0.0.0 10.0.0.1 169.254.169.254 172.16.0.1 192.168.0.1
100.64.0.1 198.18.0.1 192.0.0.1 192.88.99.1 192.0.2.1 224.0.0.1 255.255.255.255 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1]
[::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::] [fe80::1] [fd00::1] [ff02::1] [fec0::1] 127.0.0.1.
localhost localhost. foo.localhost intranet metadata.google.internal printer.local example.onion 1.0.0.127.in-addr.arpa`
      .trim()
      .split(/\s+/);

  test('the canary records connections', async () => {
    const socket = connect({ host: '127.0.0.1', port: canary.port });
    socket.resume();
    await once(socket, 'close');
    expect(canary.connections).toBe(1);
    canary.connections = 0;
  });

  test.each(LITERALS)('the domain %s', async (domain) => {
    expect(await scan(domain)).toMatchObject({ outcome: 'failed', reason: 'refused_address' });
  });

  test.each(LITERALS)('a redirect to %s', async (host) => {
    const location = `http://${host}/latest/meta-data/`;
    const server = await startHostileServer((_, response) => void response.writeHead(302, { location }).end());
    await using _server = server;
    const loopbackHosts = { 'example.com': { address: '127.0.0.1', http_port: server.port, https_port: server.closedPort } };
    expect(await scan('example.com', { loopbackHosts })).toMatchObject({ outcome: 'failed', reason: 'refused_address' });
  });

  test.each([
    ['an answer', ['127.0.0.1']],
    ['one of many answers', [PUBLIC_ADDRESS, '10.1.2.3']],
    ['an answer of IPv6', ['2606:4700::1', '::1']],
    ['a mapped answer', ['::ffff:93.184.216.34']],
    ['the metadata service', ['169.254.169.254']],
    ['a hundred answers', Array.from({ length: 100 }, (_, index) => `93.184.216.${index}`)],
    ['an answer that is no address', ['localhost']],
  ])('a name with %s', async (_, addresses) => {
    expect(await scan('example.com', { resolve: async () => addresses })).toMatchObject({
      outcome: 'failed',
      reason: 'refused_address',
    });
  });

  test('a name whose answer changes is looked up once, and the checked address is used', async () => {
    const lookups: string[] = [];
    const dialled: string[] = [];
    const result = await scan('rebinding.example.com', {
      resolve: async (hostname) => {
        lookups.push(hostname);
        return [lookups.filter((name) => name === hostname).length === 1 ? PUBLIC_ADDRESS : '127.0.0.1'];
      },
      dial: (address) => {
        dialled.push(address);
        return connect({ host: '127.0.0.1', port: hostile.closedPort });
      },
    });
    expect(result).toMatchObject({ outcome: 'failed' });
    expect(lookups.length).toBe(new Set(lookups).size);
    expect(new Set(dialled)).toEqual(new Set([PUBLIC_ADDRESS]));
  });

  test('a connection to another address is dropped before anything is sent', async () => {
    const elsewhere = await new Canary().listen();
    const diverting: Dial = () => elsewhere.dial('127.0.0.1', 80);
    const result = await scan('example.com', { resolve: async () => [PUBLIC_ADDRESS], dial: diverting });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'refused_address' });
    expect(elsewhere.dialled).toEqual(['127.0.0.1']);
    await elsewhere.close();
    expect(elsewhere.bytes).toBe(0);
  });

  test('an allow-list with an address of another machine is refused', async () => {
    const loopbackHosts = { 'example.com': { address: '10.0.0.1', http_port: 80, https_port: 443 } };
    expect(await scan('example.com', { loopbackHosts })).toMatchObject({ reason: 'refused_address' });
  });

  test('no connection was made and nothing was sent', () => {
    expect({ dialled: canary.dialled, connections: canary.connections, bytes: canary.bytes }).toEqual({
      dialled: [],
      connections: 0,
      bytes: 0,
    });
  });
});

describe('every scan of a hostile storefront ends within its bounds', () => {
  const SHORT = { requestTimeoutMs: 500 };
  const TOO_LARGE = { outcome: 'failed', reason: 'too_large' };
  const MALFORMED = { outcome: 'failed', reason: 'http_error' };
  // Not an observation: technologies on unreadable pages would count as missing and be removed after three scans.
  const NO_PAGE = { outcome: 'failed', reason: 'not_html' };
  const TIMED_OUT = { outcome: 'failed', reason: 'timed_out' };
  const REFUSED = { outcome: 'failed', reason: 'refused_redirect' };
  const EXPECTED: Readonly<Record<HostileName, object>> = {
    'gzip-bomb': TOO_LARGE,
    'deflate-bomb': TOO_LARGE,
    'raw-deflate-bomb': TOO_LARGE,
    'brotli-bomb': TOO_LARGE,
    'zstd-bomb': TOO_LARGE,
    'zstd-wide-window': MALFORMED,
    'layered-bomb': MALFORMED,
    'unknown-encoding': MALFORMED,
    'no-gzip': MALFORMED,
    'gzip-in-gzip': NO_PAGE,
    'no-tags': NO_PAGE,
    'wrong-charset': NO_PAGE,
    'endless-body': TOO_LARGE,
    'slow-drip': TIMED_OUT,
    'slow-headers': TIMED_OUT,
    silence: TIMED_OUT,
    'header-flood': TOO_LARGE,
    'header-bytes': TOO_LARGE,
    'informational-flood': { outcome: 'failed' },
    'no-http': MALFORMED,
    'cut-off': { outcome: 'failed' },
    'redirect-loop': REFUSED,
    'redirect-to-file': REFUSED,
    'redirect-to-port': REFUSED,
    'redirect-to-nonsense': REFUSED,
    'redirect-without-end': REFUSED,
    'deep-html': { storefrontCondition: 'open', scope: 'homepage_only' },
    'unclosed-links': { storefrontCondition: 'open', scope: 'homepage_only' },
    'one-attribute': { storefrontCondition: 'open', scope: 'homepage_only' },
  };

  test.each(Object.keys(HOSTILE_BEHAVIOURS) as HostileName[])('%s', async (name) => {
    const domain = `${name}.example.com`;
    const loopbackHosts = { [domain]: { address: '127.0.0.1', http_port: hostile.port, https_port: hostile.closedPort } };
    const isSlow = EXPECTED[name] === TIMED_OUT || name === 'informational-flood';
    const before = process.memoryUsage().rss;
    const result = await scan(domain, { loopbackHosts, ...(isSlow ? { limits: SHORT } : {}) });
    expect(result).toMatchObject(EXPECTED[name]);
    expect(process.memoryUsage().rss - before).toBeLessThan(MAX_GROWTH_BYTES);
  });
});

test('requests use a new connection when a server closes a kept one without notice', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 11\r\n\r\n<html>x</p>');
      socket.once('data', () => socket.destroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const loopbackHosts = {
    'example.com': { address: '127.0.0.1', http_port: (server.address() as AddressInfo).port, https_port: hostile.closedPort },
  };
  expect(await scan('example.com', { loopbackHosts })).toMatchObject({ storefrontCondition: 'open' });
  expect(connections).toBe(2);
  server.close();
});

/** Spec: S8.6: TLS verified, no redirect from https to http. */
describe('TLS', () => {
  const authority = createTestCertificate({ names: ['authority'], isAuthority: true });
  const other = createTestCertificate({ names: ['other authority'], isAuthority: true });
  const [name, past] = ['example.com', new Date('2021-01-01T00:00:00Z')];

  async function scanOver(certificate: { readonly cert: string; readonly key: string }, response: string) {
    const server = createTlsServer({ cert: certificate.cert, key: certificate.key }, (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(response));
    });
    server.on('tlsClientError', () => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const loopbackHosts = { [name]: { address: '127.0.0.1', http_port: hostile.port, https_port: port } };
      return await scan(name, { loopbackHosts, ca: authority.cert });
    } finally {
      server.close();
    }
  }
  const redirect = 'HTTP/1.1 301 Moved\r\nlocation: http://example.com/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';

  test.each([
    ['expired', createTestCertificate({ names: [name], signedBy: authority, notAfter: past })],
    ['for another name', createTestCertificate({ names: ['example.net'], signedBy: authority })],
    ['signed by itself', createTestCertificate({ names: [name] })],
    ['signed by an unknown authority', createTestCertificate({ names: [name], signedBy: other })],
  ])('a certificate that is %s fails the scan without a fallback to http', async (_, certificate) => {
    const before = hostile.requests;
    expect(await scanOver(certificate, redirect)).toMatchObject({ outcome: 'failed', reason: 'tls' });
    expect(hostile.requests).toBe(before);
  });

  test('a redirect from https to http is refused', async () => {
    const valid = createTestCertificate({ names: [name], signedBy: authority });
    const before = hostile.requests;
    expect(await scanOver(valid, redirect)).toMatchObject({
      reason: 'refused_redirect',
      detail: 'example.com redirects from https to http',
    });
    expect(hostile.requests).toBe(before);
  });
});
