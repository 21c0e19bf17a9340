import { BlockList, isIP } from 'node:net';

/** Networks that belong to a platform, by their registration (23.227.32.0/19 is Shopify, Inc., AS62679; 185.230.60.0/22 is Wix, AS58182) or around
 *  the addresses that a platform tells shops to point their DNS records to: requests to any address in them reach the same servers. One that is too
 *  wide costs time, one that is missing costs politeness. Hosts elsewhere share an edge where they share an address. */
const PLATFORM_NETWORKS: Readonly<Record<string, readonly string[]>> = {
  // help.shopify.com/manual/domains/understanding-domains: 23.227.38.65 and 2620:127:f00f:5::.
  shopify: ['23.227.32.0/19', '2620:127:f00f::/48'],
  // namecheap.com/support/knowledgebase/article.aspx/9608: 198.185.159.144, 198.185.159.145, 198.49.23.144 and 198.49.23.145.
  squarespace: ['198.185.159.0/24', '198.49.23.0/24'],
  wix: ['185.230.60.0/22'],
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
