import { BlockList, isIP } from 'node:net';

/** Addresses at which a platform serves all of its storefronts: requests to any of them reach the same servers. Each is one that a page, read in
 *  November 2026, tells shops to point their DNS records to. Networks around them are stated nowhere, and platforms whose pages name no address
 *  are not here: their hosts share an edge where they share an address, like any others. */
const PLATFORM_NETWORKS: Readonly<Record<string, readonly string[]>> = {
  // help.shopify.com/manual/domains/understanding-domains: A record and AAAA record.
  shopify: ['23.227.38.65/32', '2620:127:f00f:5::/128'],
  // namecheap.com/support/knowledgebase/article.aspx/9608: the host records that a Squarespace account shows. Squarespace's own page
  // (support.squarespace.com, 205812378) leaves them to that panel.
  squarespace: ['198.185.159.144/32', '198.185.159.145/32', '198.49.23.144/32', '198.49.23.145/32'],
};

const EDGES = Object.entries(PLATFORM_NETWORKS).map(([edge, networks]) => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), familyOf(address));
  }
  return [edge, list] as const;
});

/** What many hosts share behind an IP address: a platform's edge, or the address itself; of IPv6 the /64, which is one machine's or one customer's. */
export function edgeOf(address: string): string {
  const family = familyOf(address);
  for (const [edge, list] of EDGES) if (list.check(address, family)) return `edge:${edge}`;
  return family === 'ipv4' ? `ip:${address}` : `ip:${prefix64(address)}`;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** The first four groups; an abbreviated address is written out. */
function prefix64(address: string): string {
  const [head = '', tail] = address.split('::');
  const [first, last] = [groupsOf(head), groupsOf(tail)];
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  const all = tail === undefined ? first : [...first, ...zeros, ...last];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

function groupsOf(text: string | undefined): string[] {
  return text === undefined || text === '' ? [] : text.split(':');
}
