import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, rootCertificates } from 'node:tls';
import { FetchError, toFetchError } from './fetch-error.ts';
import { isLoopbackAddress, isPublicAddress, isSameAddress } from './public-address.ts';
import type { CheckedHost } from './resolve-host.ts';

/** How many addresses of a host are tried. */
const MAX_TRIED_ADDRESSES = 3;

/** Starts a connection to an IP address. */
export type Dial = (address: string, port: number) => Socket;

export const dialTcp: Dial = (address, port) => connectTcp({ host: address, port, family: isIP(address), noDelay: true });

interface PinnedTarget {
  readonly host: CheckedHost;
  readonly scheme: 'http' | 'https';
  readonly port: number;
  /** For TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** An additional certificate authority for fixture storefronts, PEM. */
  readonly ca: string | undefined;
  readonly dial: Dial;
}

/** Opens a connection to one of the checked addresses and to no other, checks the connected address, and verifies the certificate for the name.
 *  Throws FetchError: `connect`, `tls`, `timed_out`, `refused_address`. */
export async function connectPinned(target: PinnedTarget, aborted: AbortSignal): Promise<Socket> {
  const signal = AbortSignal.any([aborted, AbortSignal.timeout(target.connectTimeoutMs)]);
  let failed: FetchError | undefined;
  for (const address of target.host.addresses.slice(0, MAX_TRIED_ADDRESSES)) {
    try {
      return await connectTo(address, target, signal);
    } catch (error) {
      failed = toFetchError(signal.aborted ? signal.reason : error);
      if (failed.reason !== 'connect') break;
    }
  }
  throw failed ?? new FetchError('connect', 'no address was tried');
}

async function connectTo(address: string, target: PinnedTarget, signal: AbortSignal): Promise<Socket> {
  const socket = target.dial(address, target.port);
  try {
    await once(socket, 'connect', { signal });
    checkConnected(socket, address, target.host);
    return target.scheme === 'http' ? socket : await secure(socket, target, signal);
  } catch (error) {
    socket.on('error', () => {});
    socket.destroy();
    throw error;
  }
}

function checkConnected({ remoteAddress = '' }: Socket, address: string, { hostname, loopbackPorts }: CheckedHost): void {
  const isAllowed = loopbackPorts === undefined ? isPublicAddress : isLoopbackAddress;
  if (isSameAddress(remoteAddress, address) && isAllowed(remoteAddress)) return;
  throw new FetchError(
    'refused_address',
    `the connection to ${hostname} went to ${remoteAddress || 'nowhere'} instead of ${address}`,
  );
}

async function secure(socket: Socket, { host: { hostname }, ca }: PinnedTarget, signal: AbortSignal): Promise<Socket> {
  const secured = connectTls({
    socket,
    // The certificate must match this name. IP addresses are not sent in SNI (RFC 6066).
    ...(isIP(hostname) === 0 ? { servername: hostname } : { host: hostname }),
    ALPNProtocols: ['http/1.1'],
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
  });
  try {
    await once(secured, 'secureConnect', { signal });
    return secured;
  } catch (error) {
    secured.on('error', () => {});
    secured.destroy();
    const known = toFetchError(signal.aborted ? signal.reason : error);
    // Any other handshake error is a TLS fault of the peer.
    throw known.reason === 'internal' ? new FetchError('tls', known.message, { cause: error }) : known;
  }
}
