import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** Not global unicast although ipaddr.js calls them so: anycast of 6to4 relays (RFC 7526), the platform address of Azure, and from IPv6 all ranges
 *  that are not assigned to a network or carry an IPv4 address: benchmarking, ORCHID, Teredo, documentation, 6to4, segment routing. */
const REFUSED_RANGES = [
  '192.88.99.0/24',
  '168.63.129.16/32',
  '::/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '4000::/2',
  '8000::/1',
].map((range) => ipaddr.parseCIDR(range));

/** Whether a scanner may connect to an IP address as text: only global unicast, and no form that carries another address (IPv4-mapped, 6to4,
 *  NAT64, Teredo) or a zone. Text that is not an address in its canonical form is not public. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return !REFUSED_RANGES.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
}

/** Whether it is an address of this machine. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === 'loopback';
}

/** Whether both texts are the same address. */
export function isSameAddress(one: string, other: string): boolean {
  if (isIP(one) === 0 || isIP(other) === 0) return false;
  return ipaddr.process(one).toNormalizedString() === ipaddr.process(other).toNormalizedString();
}
