import type { PageEvidence } from '../evidence/evidence.ts';

/** Other hosts that have styles, scripts and pictures of the page: they have the site's own files. A vendor's host has scripts alone, or scripts and styles. */
export function staticHosts(page: PageEvidence): Set<string> {
  const scripts = hostsOf(page.scripts);
  const images = hostsOf(page.images);
  return new Set([...hostsOf(page.assets)].filter((host) => scripts.has(host) && images.has(host)));
}

function hostsOf(addresses: readonly string[]): Set<string> {
  return new Set(
    addresses.filter((address) => !address.startsWith('/')).map((address) => address.slice(0, address.indexOf('/'))),
  );
}
