import { describe, expect, it } from 'vitest';
import { isReturnTo } from '../../server/sso/payload.ts';
import {
  buildPayload,
  encodePayload,
  example,
  open,
  signJson,
  signPayload,
  writePayload,
} from '../support/clients/hand-off.ts';
import { quoted } from '../support/run/names.ts';

const malformed = { code: 'malformed_payload' };

/** The worked example's JSON with more members at its end. */
const withMembers = (members: string) => example.json.replace(/}$/, `,${members}}`);

/** Adds the member `x`, so that the payload has `levels` levels in all. `x` itself is the second level. */
const nested = (levels: number) => withMembers(`"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}`);

const bytesOf = (...parts: (string | number[])[]) =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : part)),
  );

describe('a signed payload (contract 3.19)', () => {
  const { payload } = example;
  const lastOf = (text: string) => text.slice(-1);

  it.each([
    ['padded', `${payload}==`],
    ['with one pad character', `${payload}=`],
    ['in the standard alphabet', payload.replaceAll('-', '+').replaceAll('_', '/')],
    ['with a space before', ` ${payload}`],
    ['with a line break after', `${payload}\n`],
    ['with a line break inside', `${payload.slice(0, 76)}\r\n${payload.slice(76)}`],
    ['with a null character', `${payload}\0`],
    ['with a full-width letter', `${payload.slice(0, -1)}\uff51`],
    ['percent-encoded once more', payload.replace('_', '%5F')],
    ['a character too long for any bytes', `${payload}AAA`],
    ['empty', ''],
  ])('is refused if it is not canonical base64url (%s)', async (_, spelling) => {
    expect(spelling).not.toBe(payload);
    await expect(open(await signPayload(spelling))).rejects.toMatchObject(malformed);
  });

  it('is refused if its last character carries bits that belong to no byte', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const name of ['Zoë', 'Zoë1', 'Zoë12']) {
      const canonical = encodePayload(writePayload({ 'profile.name': name }));
      await open(await signPayload(canonical));
      const free = [1, undefined, 16, 4][canonical.length % 4] ?? 1;
      const first = alphabet.indexOf(lastOf(canonical));
      for (let more = 1; more < free; more++) {
        const spelling = canonical.slice(0, -1) + alphabet[first + more];
        expect(Buffer.from(spelling, 'base64url')).toEqual(Buffer.from(canonical, 'base64url'));
        await expect(open(await signPayload(spelling))).rejects.toMatchObject(malformed);
      }
    }
  });
});

describe('a signature (contract 3.20)', () => {
  const { payload, signature } = example;

  it.each([
    ['empty', ''],
    ['upper-case', signature.toUpperCase()],
    ['one digit upper-case', signature.replace('e', 'E')],
    ['one digit more', `${signature}0`],
    ['with a line break after', `${signature}\n`],
    ['with a space before', ` ${signature}`],
    ['with 0x', `0x${signature.slice(2)}`],
    ['with the algorithm', `sha256=${signature}`],
    ['base64', Buffer.from(signature, 'hex').toString('base64')],
    ['full-width digits', signature.replace('9', '\uff19')],
    ['two, comma-separated', `${signature},${signature}`],
  ])('is refused if it is not 64 lower-case hex digits (%s)', async (_, spelling) => {
    await expect(open(new URLSearchParams({ payload, signature: spelling }))).rejects.toMatchObject({
      ...malformed,
      reason: 'signature spelling',
    });
  });
});

describe('the JSON of a signed payload (contract 3.12 and 3.23)', () => {
  it.each<[string, string | Uint8Array]>([
    ['nothing but a space', ' '],
    ['null', 'null'],
    ['a string', JSON.stringify(example.json)],
    ['an array', `[${example.json}]`],
    ['two texts', example.json + example.json],
    ['a byte order mark', `\ufeff${example.json}`],
    ['a comment', `${example.json}/**/`],
    ['a comma too many', withMembers('')],
    ['a name twice, alike', withMembers('"aud":"marketplace"')],
    ['a name twice, once escaped', withMembers('"\\u0061ud":"crm_app"')],
    ['a name twice further in', withMembers('"x":[{"a":1,"b":{},"a":1}]')],
    ['__proto__ twice', withMembers('"__proto__":1,"__proto__":2')],
    ['17 levels', nested(17)],
    ['a deep bomb', withMembers(`"x":${'['.repeat(2_500)}${']'.repeat(2_500)}`)],
    ['a byte that is no UTF-8', bytesOf(withMembers('"x":"').slice(0, -1), [0xff], '"}')],
    ['an overlong slash', bytesOf(withMembers('"x":"').slice(0, -1), [0xc0, 0xaf], '"}')],
    ['a lone surrogate in bytes', bytesOf(withMembers('"x":"').slice(0, -1), [0xed, 0xa0, 0x80], '"}')],
    ['UTF-16', bytesOf([...Buffer.from(example.json, 'utf16le')])],
    ['a raw control character', withMembers('"x":"\t"')],
    ['NaN', withMembers('"x":NaN')],
    ['a number with a leading zero', withMembers('"x":01')],
  ])('is refused if it is not strict (%s)', async (_, json) => {
    await expect(open(await signJson(json))).rejects.toMatchObject(malformed);
  });

  it.each([
    ['16 levels', nested(16)],
    ['spaces and line breaks', JSON.stringify(buildPayload(), null, '\t\n ')],
    ['the same name in two objects', withMembers('"x":{"iss":1,"aud":2,"profile":{"iss":3}}')],
    ['numbers of any kind', withMembers('"x":[1e400,-0,1.5,-1e-400,123456789012345678901234567890]')],
    ['an escaped lone surrogate', withMembers('"x":"\\ud800"')],
    ['escaped characters', example.json.replace('Zoë', 'Zo\\u00eb').replace('"aud"', '"\\u0061ud"')],
    ['names of the prototype', withMembers('"__proto__":{"role":"admin"},"constructor":1,"toString":2')],
    ['empty names', withMembers('"":1,"x":{"":2}')],
  ])('is accepted, and unknown members are ignored (%s)', async (_, json) => {
    expect(await open(await signJson(json))).toEqual(buildPayload());
  });

  it('gives no member through __proto__', async () => {
    const json = withMembers('"__proto__":{"nonce":"AAECAwQFBgcICQoLDA0ODw"}').replace('"nonce"', '"n"');
    await expect(open(await signJson(json))).rejects.toMatchObject({ reason: 'schema: nonce' });
  });

  it('may give a time as -0, which is the time 0', async () => {
    const json = writePayload({ iat: 0, exp: 300 }).replace('"iat":0', '"iat":-0');
    await expect(open(await signJson(json))).rejects.toMatchObject({ code: 'payload_expired' });
    expect((await open(await signJson(json), { now: new Date(0) })).exp).toBe(300);
  });
});

describe('a member of the payload (contract 3.6 to 3.10)', () => {
  const id = buildPayload().profile.id;

  it.each<[string, unknown[]]>([
    ['iss', [1, null, ['https://id.example.test'], undefined]],
    ['aud', [null, ['marketplace'], true, undefined]],
    ['client', [null, {}, undefined]],
    [
      'nonce',
      ['', 'A'.repeat(21), 'A'.repeat(23), `${'A'.repeat(21)}+`, `${'A'.repeat(22)}\n`, 1, undefined],
    ],
    ['profile', [null, [], 'zoe', undefined]],
    [
      'profile.id',
      [id.toUpperCase(), id.replace('-7', '-4'), `${id} `, id.replaceAll('-', ''), 1, undefined],
    ],
    ['profile.email', [null, '', 'a@', `${'a'.repeat(243)}@example.test`, undefined]],
    ['profile.name', ['', 'x'.repeat(201), '\u{1f600}'.repeat(201), null, undefined]],
    ['profile.role', ['', 'Admin', 'manager', 'user', ['admin'], null, undefined]],
    ['profile.account', [null, [], undefined]],
    ['profile.account.capabilities', [null, 'sell_products', [1], [null], {}, undefined]],
    [
      'profile.profile_updated_at',
      [
        '2026-01-01T00:00:00Z',
        '2026-01-01T00:00:00.000+00:00',
        '2026-01-01 00:00:00.000Z',
        '2026-02-30T00:00:00.000Z',
        '2026-01-01T24:00:00.000Z',
        1_767_225_600_000,
        undefined,
      ],
    ],
    ['state', ['', 'a b', 'a\n', 'ä', 'x'.repeat(513), 1, null]],
    ['return_to', ['', 'x', '//evil.test', '/\\evil.test', '/\t/evil.test', 'https://evil.test/', null]],
  ])('is refused if it is not of its form (%s)', async (path, values) => {
    for (const value of values) {
      const opened = open(await signJson(writePayload({ [path]: value })));
      await expect(opened, JSON.stringify(value)).rejects.toMatchObject({
        ...malformed,
        reason: expect.stringContaining(`schema: ${path}`),
      });
    }
  });

  it.each<[string, unknown[]]>([
    ['profile.name', ['x', 'x'.repeat(200), '\u{1f600}'.repeat(200)]],
    // Both addresses have 254 code points, the unit of our own check of addresses.
    ['profile.email', [`${'a'.repeat(241)}@example.test`, `${'\u{1f600}'.repeat(241)}@example.test`]],
    ['profile.role', ['admin', 'merchant', 'customer']],
    ['profile.account.capabilities', [[], ['sell_tickets'], ['sell_services', 'a capability of next year']]],
    ['state', ['x', 'A~z.9_-', 'x'.repeat(512)]],
    ['return_to', ['/', '/a?b=//c#d', '/ä', `/${'x'.repeat(2_047)}`]],
  ])('is accepted up to the limits of its form (%s)', async (path, values) => {
    for (const value of values) {
      await open(await signJson(writePayload({ [path]: value }))).catch((error) =>
        expect.unreachable(`${JSON.stringify(value)}: ${error.message}`),
      );
    }
  });
});

it.each(
  quoted([
    `/${'x'.repeat(2_048)}`,
    '/a\\b',
    '/a\u0085',
    '/a\0',
    '///',
    ' /',
    'javascript:alert(1)',
    '.',
    '#',
  ]),
)('does not take a return_to of %s for a path on the client’s site', (_, value) => {
  expect(isReturnTo(value)).toBe(false);
});
