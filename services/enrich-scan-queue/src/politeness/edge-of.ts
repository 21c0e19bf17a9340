import ipaddr from 'ipaddr.js';

/**
 * Networks of a platform, by registration (23.227.32.0/19 is Shopify, Inc., AS62679; 185.230.60.0/22 is Wix, AS58182) or around the
 * documented DNS targets of a platform. Requests to any address in them reach the same servers. A network that is too wide makes scans
 * slower, and a missing one makes them less polite. Other hosts share an edge if they share an address.
 */
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

/**
 * The shared edge of an IP address: a platform, or the address itself. For IPv6 it is the /64, which belongs to one machine or one
 * customer.
 */
export function edgeOf(address: string): string {
  const parsed = ipaddr.parse(address);
  const known = EDGES.find(({ range }) => range[0].kind() === parsed.kind() && parsed.match(range));
  if (known !== undefined) return `edge:${known.edge}`;
  if (!('parts' in parsed)) return `ip:${address}`;
  const groups = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `ip:${groups.join(':')}::/64`;
}
