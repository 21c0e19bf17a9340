import { BlockList, isIP } from 'node:net';

/** Networks in which a platform serves all of its storefronts: requests to any of them reach the same servers. They are the
 *  addresses that shops are commonly told to point their DNS records to, not checked against a page of each platform: a wrong one makes an edge
 *  too narrow or too wide. Others are known by their address. */
const PLATFORM_NETWORKS: Readonly<Record<string, readonly string[]>> = {
  shopify: ['23.227.38.0/24', '23.227.39.0/24', '2620:127:f00f::/48'],
  squarespace: ['198.185.159.0/24', '198.49.23.0/24'],
  wix: ['185.230.60.0/22', '23.236.62.147/32'],
  bigcommerce: ['192.200.160.0/24', '63.141.128.0/24'],
  webflow: ['75.2.70.75/32', '99.83.190.102/32', '198.202.211.1/32'],
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
