import { expect, test } from '@jest/globals';
import { isPublicAddress } from './public-address.ts';

/** Every range of the IANA registries of special-purpose addresses: its first and last address, and their neighbours if public. */
const NOT_PUBLIC = `
0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.254 169.254.0.1 169.254.169.254
172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255
198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16
:: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1
2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:808:808::1 3fff::1
5f00::1 4000::1 8000::1 fc00::1 fd00:ec2::254 fdff:ffff::1 fe80::1 fe80::1%eth0 2606:4700::1%1 fec0::1 ff02::1
0x7f.1 2130706433 017700000001 127.1 0177.0.0.1 1.2.3 256.1.1.1 example.com [::1]`;
const PUBLIC = `
1.0.0.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 128.0.0.1 169.253.255.255 172.15.255.255 172.32.0.0 192.0.1.0
192.88.98.255 192.167.255.255 198.17.255.255 198.20.0.0 223.255.255.255 93.184.216.34
2606:4700:4700::1111 2a00:1450:4001:800::200e 2001:4860:4860::8888 2001:200::1 2003::1 3ffe::1`;

test.each(NOT_PUBLIC.trim().split(/\s+/))('%s is refused', (address) => expect(isPublicAddress(address)).toBe(false));
test.each(PUBLIC.trim().split(/\s+/))('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));
test('no text at all is not public', () => expect(isPublicAddress('')).toBe(false));
