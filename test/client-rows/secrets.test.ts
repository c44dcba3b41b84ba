// The form of secrets, how they are sealed, and what URLs a client in the database may have (contract section 13).
import { describe, expect, it } from 'vitest';
import { findAddressFault, mayConnect } from '../../server/clients/addresses.ts';
import {
  isSecret,
  keyIdOf,
  makeSecret,
  openSecret,
  sealSecret,
  spellSecret,
} from '../../server/clients/secrets.ts';

describe('a secret of a row (contract 13.20)', () => {
  it('ends with the checksum of its random part, in six digits', () => {
    // The CRC-32 of 43 times A is 0xc2b5986 by zlib.
    expect(spellSecret(new Uint8Array(32))).toBe(`idsec_${'A'.repeat(43)}0DofJ8`);
    for (let n = 0; n < 500; n++) expect(makeSecret()).toMatch(/^idsec_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/);
  });

  it('is known from a text that only looks like one', () => {
    const secret = makeSecret();
    expect(isSecret(secret)).toBe(true);
    const other = secret.at(20) === 'x' ? 'y' : 'x';
    expect(isSecret(`${secret.slice(0, 20)}${other}${secret.slice(21)}`)).toBe(false);
    for (const text of ['', secret.slice(0, -1), `${secret}a`, secret.toUpperCase(), ` ${secret}`])
      expect(isSecret(text)).toBe(false);
    expect(new Set(Array.from({ length: 500 }, makeSecret)).size).toBe(500);
  });

  it('opens only for its issuer, name and row, and with its key (contract 13.4 and 13.26)', async () => {
    const [key, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const owner = { id: 'a', issuer: 'https://id.example.test', name: 'shop' };
    const { sealed, keyId } = await sealSecret([key], owner, 'idsec_x');
    expect(keyId).toBe(keyIdOf(key));
    expect(keyId).toMatch(/^[0-9a-f]{8}$/);
    expect(await openSecret([other, key], owner, sealed)).toBe('idsec_x');
    expect(await openSecret([other], owner, sealed)).toBeUndefined();
    for (const wrong of [{ id: 'b' }, { issuer: 'https://id.elsewhere.test' }, { name: 'shops' }])
      expect(await openSecret([key], { ...owner, ...wrong }, sealed)).toBeUndefined();
  });
});

describe('an address of a row', () => {
  const long = (length: number) => `https://a.test/${'a'.repeat(length - 15)}`;
  it.each([
    'https://shop.example.test/',
    'https://shop.example.test/sso/callback?lang=de',
    'https://shop.example.test:8443/cb',
    'https://xn--bcher-kva.example/cb',
    'https://shop/cb',
    long(2_000),
  ])('may be %s in production (contract 13.13 and 13.15)', (url) => {
    expect(findAddressFault(url, { production: true, use: 'callback' })).toBeUndefined();
  });

  it.each([
    ['', 'address_https'],
    ['shop.example.test', 'address_https'],
    ['/cb', 'address_https'],
    ['http://shop.example.test/', 'address_https'],
    ['javascript:alert(1)', 'address_https'],
    ['https://shop.example.test/#', 'address_parts'],
    ['https://shop.example.test/#x', 'address_parts'],
    ['https://zoe@shop.example.test/', 'address_parts'],
    ['https://zoe:pass@shop.example.test/', 'address_parts'],
    ['https://*.example.test/', 'address_parts'],
    ['https://192.0.2.1/', 'address_number'],
    ['https://3221225985/', 'address_number'],
    ['https://0x7f.1/', 'address_number'],
    ['https://[2001:db8::1]/', 'address_number'],
    ['https://localhost/', 'address_here'],
    ['https://host.docker.internal/', 'address_here'],
    ['https://shop.example.test', 'address_spelling'],
    ['https://Shop.example.test/', 'address_spelling'],
    ['https://shop.example.test:443/', 'address_spelling'],
    ['https://shop.example.test/a/../b', 'address_spelling'],
    ['https://bücher.example/cb', 'address_spelling'],
    ['https://shop.example.test/ü', 'address_spelling'],
    [' https://shop.example.test/', 'address_spelling'],
    ['https://shop.example.test/?a=b&state=1', 'address_parameters'],
    ['https://shop.example.test/?%70ayload=1', 'address_parameters'],
    [long(2_001), 'address_long'],
  ])('may not be %s in production (contract 13.13 and 13.15)', (url, fault) => {
    expect(findAddressFault(url, { production: true, use: 'callback' })).toBe(fault);
  });

  it('is judged alike after thousands of others', () => {
    const ask = () => findAddressFault('https://bücher.example/cb', { production: true, use: 'callback' });
    expect(new Set(Array.from({ length: 20_000 }, ask))).toEqual(new Set(['address_spelling']));
  });

  it('is on this machine in local mode, and may be in clear (contract 13.14)', () => {
    const local = { production: false };
    for (const host of ['localhost:4000', '127.0.0.1', '[::1]:5000', 'host.docker.internal'])
      expect(findAddressFault(`http://${host}/cb`, local)).toBeUndefined();
    for (const host of ['shop.example.test', '127.0.0.2', '192.168.1.2', 'localhost.example.test'])
      expect(findAddressFault(`http://${host}/cb`, local)).toBe('address_elsewhere');
    expect(findAddressFault('ftp://localhost/cb', local)).toBe('address_http');
  });
});

describe('the service', () => {
  const outside = { production: true, allowsPrivateNetworks: false };
  const inside = { production: true, allowsPrivateNetworks: true };
  const local = { production: false, allowsPrivateNetworks: false };

  it.each(['1.1.1.1', '2606:4700::1111', '::ffff:1.1.1.1'])('connects to %s (contract 13.17)', (address) => {
    for (const config of [outside, inside, local]) expect(mayConnect(address, config)).toBe(true);
  });

  it.each(['10.1.2.3', '172.16.0.1', '192.168.1.1', '100.64.0.1', 'fd12::1', '::ffff:10.0.0.1'])(
    'connects to %s only in private networks that the setting allows (contract 13.18)',
    (address) => {
      expect([outside, inside, local].map((config) => mayConnect(address, config))).toEqual([
        false,
        true,
        true,
      ]);
    },
  );

  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])(
    'connects to %s only in local mode (contract 13.17 and 13.18)',
    (address) => {
      expect([outside, inside, local].map((config) => mayConnect(address, config))).toEqual([
        false,
        false,
        true,
      ]);
    },
  );

  it.each([
    ...[
      '169.254.169.254',
      'fe80::1',
      '224.0.0.1',
      'ff02::1',
      '0.0.0.0',
      '::',
      '255.255.255.255',
      '198.18.0.1',
    ],
    ...[
      '100.100.100.200',
      'fd00:ec2::254',
      'fd00:ec2::23',
      'fd00:c1::a9fe:a9fe',
      'fd00:42::42',
      '168.63.129.16',
      '::7f00:1',
      '::ffff:100.100.100.200',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      'x',
      '',
    ],
  ])('never connects to %j (contract 13.17)', (address) => {
    for (const config of [outside, inside, local]) expect(mayConnect(address, config)).toBe(false);
  });
});
