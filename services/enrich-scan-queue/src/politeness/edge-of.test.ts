import { expect, test } from '@jest/globals';
import { edgeOf } from './host-rate-limiter.ts';

test.each([
  ['23.227.38.65', 'edge:shopify'],
  ['23.227.38.32', 'edge:shopify'],
  ['23.227.64.1', 'ip:23.227.64.1'],
  ['2620:127:f00f:5::', 'edge:shopify'],
  ['198.185.159.144', 'edge:squarespace'],
  ['198.49.23.145', 'edge:squarespace'],
  ['185.230.63.107', 'edge:wix'],
  ['185.230.64.1', 'ip:185.230.64.1'],
  ['203.0.113.9', 'ip:203.0.113.9'],
  ['2001:db8:0:1:2:3:4:5', 'ip:2001:db8:0:1::/64'],
  ['2001:DB8::1', 'ip:2001:db8:0:0::/64'],
  ['::1', 'ip:0:0:0:0::/64'],
])('%s is reached over %s', (address, edge) => {
  expect(edgeOf(address)).toBe(edge);
});
