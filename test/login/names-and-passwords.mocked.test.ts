import { verify } from '@node-rs/argon2';
import { describe, expect, it, vi } from 'vitest';
import { nameSchema } from '../../server/basics/names.ts';
import { clientsOfSettings } from '../../server/clients/book.ts';
import { withNames } from '../../server/identity/password/password-check.ts';
import { findPasswordFault } from '../../server/identity/password/password-fault.ts';
import { hashPassword, verifyPassword } from '../../server/identity/password/passwords.ts';
import { readConfig } from '../../server/settings/config.ts';
import { quote } from '../support/run/names.ts';
import { fc } from '../support/run/random.ts';

// The real function, with its calls recorded.
vi.mock('@node-rs/argon2', { spy: true });

describe('a name (contract 9.15)', () => {
  const accepted: [string, string][] = [
    ['Zoë O’Neil', 'Zoë O’Neil'],
    ['  Zoë \t\n', 'Zoë'],
    ['\u00a0\u3000Zoë\ufeff', 'Zoë'],
    ['Z', 'Z'],
    ['x'.repeat(200), 'x'.repeat(200)],
    [` ${'\u{1f600}'.repeat(200)} `, '\u{1f600}'.repeat(200)],
    ['👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦'],
    ['<b>"&\';--', '<b>"&\';--'],
    // Arabic and Hebrew names need direction marks.
    ['דנה\u200f!', 'דנה\u200f!'],
    ['e\u0308', 'e\u0308'],
    ['\u1100\u1160', '\u1100\u1160'],
    ['\u200bZ', '\u200bZ'],
    ['\u3164!', '\u3164!'],
    ['王', '王'],
    ['7', '7'],
  ];

  it.each(accepted.map(([text, name]) => [quote(text), quote(name), text, name] as const))(
    'typed as %s is read as %s',
    (_typed, _read, text, name) => {
      expect(nameSchema.parse(text)).toBe(name);
    },
  );

  it.each([
    ['nothing', ''],
    ['only spaces', ' \t\n\u00a0\u3000'],
    ['201 characters', 'x'.repeat(201)],
    ['201 characters beyond the BMP', '\u{1f600}'.repeat(201)],
    ['a number', 1],
    ['null', null],
  ])('is refused if it is %s', (_, value) => {
    expect(nameSchema.safeParse(value).success).toBe(false);
  });

  const forbidden = [
    ...[0x00, 0x01, 0x09, 0x0a, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x9f],
    ...[0x2028, 0x2029],
    ...[0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069],
    ...[0xd800, 0xdbff, 0xdc00, 0xdfff],
  ];

  it.each(forbidden.map((code) => code.toString(16).padStart(4, '0')))(
    'is refused with U+%s in it',
    (code) => {
      const character = String.fromCodePoint(Number.parseInt(code, 16));
      expect(nameSchema.safeParse(`Zo${character}ë`).success).toBe(false);
    },
  );

  const invisible = [
    ...[
      0x00ad, 0x034f, 0x061c, 0x115f, 0x1160, 0x17b4, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x2060, 0x2800,
    ],
    ...[0x3164, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0x0301, 0x1d159, 0x1d173, 0xe0001, 0xe0041, 0xe0100],
  ];

  it.each(invisible.map((code) => code.toString(16).padStart(4, '0')))(
    'is refused if it is nothing but U+%s',
    (code) => {
      const character = String.fromCodePoint(Number.parseInt(code, 16));
      for (const name of [character, character.repeat(9), ` ${character} ${character} `])
        expect(nameSchema.safeParse(name).success, quote(name)).toBe(false);
    },
  );

  it('is refused if it is a mixture of invisible characters', () => {
    const characters = invisible.map((code) => String.fromCodePoint(code));
    expect(nameSchema.safeParse(characters.join(' ')).error?.issues[0]?.message).toBe('Enter a name.');
  });

  it('made from any text at all holds nothing that JSON or Postgres cannot carry', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 210 }), (text) => {
        const { data } = nameSchema.safeParse(text);
        if (data === undefined) return;
        expect(data).not.toContain('\0');
        expect(new TextDecoder().decode(new TextEncoder().encode(data))).toBe(data);
        expect(nameSchema.parse(data)).toBe(data);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a new password (contract 9.31)', () => {
  const owner = { email: 'zoe.oneil@blumen.example', name: 'Zoë O’Neil' };
  const findFault = (password: string) =>
    findPasswordFault(withNames(readConfig({}), clientsOfSettings(readConfig({})), { password, ...owner }));
  const isTaken = async (password: string) => (await findFault(password)) === undefined;
  const uncommon = 'blue kettle, seven lamps and a wet dog; ';
  const ofLength = (length: number) => uncommon.repeat(4).slice(0, length);

  it.each([
    ['is refused', 11, false],
    ['is accepted', 12, true],
    ['is accepted', 128, true],
    ['is refused', 129, false],
  ])('%s with %i characters', async (_, length, taken) => {
    expect(await isTaken(ofLength(length))).toBe(taken);
    // Lengths are in code points. An emoji is one code point, although JavaScript counts two.
    const emoji = Array.from(ofLength(length), (character, at) => (at % 2 ? '\u{1f40c}' : character)).join(
      '',
    );
    expect(await isTaken(emoji)).toBe(taken);
  });

  it('is measured in its NFKC form', async () => {
    // In NFKC, this ligature is 18 characters, and a letter with its mark is one.
    expect(await isTaken('blue kettle \ufdfa')).toBe(true);
    expect(await isTaken(`${ofLength(111)}\ufdfa`)).toBe(false);
    expect(await isTaken('zw!gq oke\u0308x1')).toBe(false);
    expect(await isTaken('zw!gq oke\u0308x12')).toBe(true);
  });

  it.each([
    'zoe.oneil@blumen.example',
    'zoe.oneil2026',
    'Zoë O’Neil 1990',
    'blumenblumen',
    'identity service',
    'identityservice',
    'identity1234',
    'marketplace2026',
    'Marketplace!!',
    'network_site1',
    'localhost1234',
  ])('is refused as made of names that anybody knows: %s', async (password) => {
    expect(await findFault(password)).toMatch(/too easy to guess/);
    expect(await isTaken(`${password} lamps kettle`)).toBe(true);
  });

  it.each([
    'password1234',
    'passwordpassword',
    'Password1234',
    'P@ssw0rd1234',
    'ｐａｓｓｗｏｒｄ１２３４',
    '123456789012',
    '111111111111',
    'qwertyuiop12',
    'qwertyqwerty',
    'iloveyou1234',
    'letmeinletmein',
    'abcabcabcabc',
    'abcdefghijkl',
  ])('is refused as too common: %s', async (password) => {
    expect(await findFault(password)).toMatch(/too easy to guess/);
  });

  it.each([
    'blue kettle seven lamps',
    'correct horse battery staple',
    'tangerine-orbit-fox',
    'moonlight sonata',
    'secret garden',
    'batterystaple',
    'alllowercaseisfinetoo',
    '84629175036284',
    'синий чайник и семь ламп',
    '青い薬缶と七つの灯りと濡れた犬',
    '            a quiet room',
    'null\0 inside, and more',
    'local demo password',
  ])('needs no digits, signs or capitals: %j', async (password) => {
    expect(await isTaken(password)).toBe(true);
  });
});

describe('the hash of a password', () => {
  const ofOurCost = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/;

  // Contract 9.30.
  it('is argon2id with 19 MiB, two passes and one lane, and has its own salt', async () => {
    const [one, other] = await Promise.all([hashPassword('blue kettle'), hashPassword('blue kettle')]);
    expect(one).toMatch(ofOurCost);
    expect(one).not.toBe(other);
  });

  it('matches that password and no other', async () => {
    const hash = await hashPassword('blue kettle Ë');
    expect(await verifyPassword(hash, 'blue kettle Ë')).toBe(true);
    for (const wrong of [
      '',
      'blue kettle',
      'blue kettle ë',
      'blue kettle Ë ',
      ' blue kettle Ë',
      'blue kettle Ë\0',
    ]) {
      expect(await verifyPassword(hash, wrong), wrong).toBe(false);
    }
  });

  it('matches whichever keyboard the characters were typed on', async () => {
    const hash = await hashPassword('zoe\u0308 ｆull-width ﬁn');
    expect(await verifyPassword(hash, 'zoë full-width fin')).toBe(true);
    expect(await verifyPassword(await hashPassword('zoë full-width fin'), 'zoe\u0308 ｆull-width ﬁn')).toBe(
      true,
    );
  });

  it('depends on every character of a long password', async () => {
    const long = '\u{1f40c}'.repeat(127);
    const hash = await hashPassword(`${long}a`);
    expect(await verifyPassword(hash, `${long}a`)).toBe(true);
    expect(await verifyPassword(hash, `${long}b`)).toBe(false);
  });

  it.each([null, undefined])(
    'takes the same work when there is none (%s), and matches nothing',
    async (none) => {
      vi.mocked(verify).mockClear();
      expect(await verifyPassword(none, 'blue kettle')).toBe(false);
      expect(await verifyPassword(none, '')).toBe(false);
      expect(verify).toHaveBeenCalledTimes(2);
      for (const [hash] of vi.mocked(verify).mock.calls) expect(hash).toMatch(ofOurCost);
    },
  );
});
