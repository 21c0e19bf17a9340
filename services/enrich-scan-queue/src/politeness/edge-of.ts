import ipaddr from 'ipaddr.js';

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

const EDGES = Object.entries(PLATFORM_NETWORKS).flatMap(([edge, networks]) =>
  networks.map((network) => ({ edge, range: ipaddr.parseCIDR(network) })),
);

/** What many hosts share behind an IP address: a platform's edge, or the address itself; of IPv6 the /64, which is one machine's or one customer's. */
export function edgeOf(address: string): string {
  const parsed = ipaddr.parse(address);
  const known = EDGES.find(({ range }) => range[0].kind() === parsed.kind() && parsed.match(range));
  if (known !== undefined) return `edge:${known.edge}`;
  if (!('parts' in parsed)) return `ip:${address}`;
  const groups = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `ip:${groups.join(':')}::/64`;
}
