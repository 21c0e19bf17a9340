import type { ScanConfig } from '../config.ts';
import { dialTcp, type Dial } from './network/connect-pinned.ts';
import { resolveByDns, type LoopbackHosts, type ResolveAddresses } from './network/resolve-host.ts';

/** Bounds of one scan. Spec: S8.6. */
export const FETCH_LIMITS = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 10_000,
  /** Maximum time between two chunks of a body. */
  idleTimeoutMs: 10_000,
  /** Maximum time of one request, from the lookup to the last byte. */
  requestTimeoutMs: 20_000,
  /** Maximum time of the whole scan. After the home page it only ends the reading, and the data read so far is kept. */
  scanTimeoutMs: 60_000,
  maxRedirects: 5,
  maxHeaderBytes: 64 * 1024,
  maxHeaders: 200,
  maxHtmlBytes: 5 * 1024 * 1024,
  maxDocumentBytes: 15 * 1024 * 1024,
  maxRobotsBytes: 500 * 1024,
  /** Hosts of one scan: its own, with and without www, and where it redirects. */
  maxOrigins: 12,
  /** Pages of a catalogue endpoint: `first_page` is the default depth. */
  maxCataloguePages: 1,
} as const;
export type FetchLimits = { readonly [Name in keyof typeof FETCH_LIMITS]: number };

export interface FetchSettings {
  /** Sent as the User-Agent with a contact address. */
  readonly userAgent: string;
  readonly limits: FetchLimits;
  readonly resolve: ResolveAddresses;
  /** For tests and the demo; refused in production. */
  readonly loopbackHosts: LoopbackHosts;
  /** An additional certificate authority for fixture storefronts, PEM. */
  readonly ca: string | undefined;
  /** Opens connections. Tests replace it to observe connections. Configuration cannot set it. */
  readonly dial: Dial;
}

/** The name of the scanner in robots.txt. */
export const ROBOT_NAME = 'VitrineBot';

/** The User-Agent of all requests. Its URL explains the scanner and how to stop it. */
export function userAgentOf(version: string, contactUrl: string): string {
  return `Mozilla/5.0 (compatible; ${ROBOT_NAME}/${version}; +${contactUrl})`;
}

/** How a scanner fetches: the public internet by DNS, and names of the loopback allow-list from this machine. Spec: S8.7. */
export function createFetchSettings(config: ScanConfig['fetch'], version: string): FetchSettings {
  return {
    userAgent: userAgentOf(version, config.contact_url),
    limits: { ...FETCH_LIMITS, maxCataloguePages: config.catalogue_pages },
    resolve: resolveByDns,
    loopbackHosts: parseLoopbackHosts(config.loopback_hosts),
    ca: config.loopback_ca === '' ? undefined : config.loopback_ca,
    dial: dialTcp,
  };
}

/** Parses entries that configuration has checked. */
function parseLoopbackHosts(entries: readonly string[]): LoopbackHosts {
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = '', place = ''] = entry.split('=');
      const [address = '', http = '', https = ''] = place.split(':');
      return [name, { address, http_port: Number(http), https_port: Number(https) }];
    }),
  );
}
