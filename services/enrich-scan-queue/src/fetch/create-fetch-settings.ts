import { dialTcp } from './network/connect-pinned.ts';
import { resolveByDns, type LoopbackHosts } from './network/resolve-host.ts';
import { FETCH_LIMITS, userAgentOf, type FetchSettings } from './fetch-settings.ts';

/** What configuration says about fetching. */
interface FetchConfig {
  readonly contact_url: string;
  readonly catalogue_pages: number;
  /** `NAME=ADDRESS:HTTP_PORT:HTTPS_PORT`, each. */
  readonly loopback_hosts: readonly string[];
  readonly loopback_ca: string;
}

/** How a scanner fetches: the public internet by DNS, and names of the loopback allow-list from this machine. Spec: S8.7. */
export function createFetchSettings(config: FetchConfig, version: string): FetchSettings {
  return {
    userAgent: userAgentOf(version, config.contact_url),
    limits: { ...FETCH_LIMITS, maxCataloguePages: config.catalogue_pages },
    resolve: resolveByDns,
    loopbackHosts: parseLoopbackHosts(config.loopback_hosts),
    ca: config.loopback_ca === '' ? undefined : config.loopback_ca,
    dial: dialTcp,
  };
}

/** Of entries that configuration has checked. */
function parseLoopbackHosts(entries: readonly string[]): LoopbackHosts {
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = '', place = ''] = entry.split('=');
      const [address = '', http = '', https = ''] = place.split(':');
      return [name, { address, http_port: Number(http), https_port: Number(https) }];
    }),
  );
}
