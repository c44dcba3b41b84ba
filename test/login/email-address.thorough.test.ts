import { toASCII } from 'tr46';
import { describe, expect, it } from 'vitest';
import { canGetMail, readEmailAddress } from '../../server/identity/ground/email-address.ts';
import { fc } from '../support/run/random.ts';

describe('the canonical form of an e-mail address', () => {
  it.each([
    ['zoe@example.test', 'zoe@example.test'],
    ['Zoe@Example.TEST', 'zoe@example.test'],
    ['ZOË@example.test', 'zoë@example.test'],
    ['zoe@München.example', 'zoe@xn--mnchen-3ya.example'],
    ['zoe@xn--mnchen-3ya.example', 'zoe@xn--mnchen-3ya.example'],
    ['zoe@XN--MNCHEN-3YA.example', 'zoe@xn--mnchen-3ya.example'],
    ['zoe@faß.example', 'zoe@xn--fa-hia.example'],
    ['zoe@例え.テスト', 'zoe@xn--r8jz45g.xn--zckzah'],
    ['zoe@مثال.إختبار', 'zoe@xn--mgbh0fb.xn--kgbechtv'],
    ['用户@例え.テスト', '用户@xn--r8jz45g.xn--zckzah'],
    // There are no provider-specific rules, so dots and tags stay.
    ['Z.o.e+shop@gmail.com', 'z.o.e+shop@gmail.com'],
    ["o'neil_%-!#$&*=?^`{|}~/@example.test", "o'neil_%-!#$&*=?^`{|}~/@example.test"],
    ['a@b', 'a@b'],
  ])('given as %s is %s', (text, address) => {
    expect(readEmailAddress(text)).toBe(address);
  });

  it.each(['\ufdd0', '\ufdef', '\ufffe', '\uffff', '\u{1fffe}', '\u{10ffff}'])(
    'has no noncharacter, which no XML may hold: %j',
    (sign) => {
      expect(readEmailAddress(`a${sign}@example.test`)).toBeUndefined();
      expect(readEmailAddress(`a@${sign}example.test`)).toBeUndefined();
    },
  );

  it('has at most 254 characters, counted after the domain became ASCII', () => {
    const at = '@example.test';
    const local = (length: number) => 'a'.repeat(length - at.length);
    expect(readEmailAddress(local(254) + at)).toHaveLength(254);
    expect(readEmailAddress(local(255) + at)).toBeUndefined();
    // Twenty ü are longer in their ASCII form.
    const idn = `@${'ü'.repeat(20)}.test`;
    const ascii = readEmailAddress(`a${idn}`)?.length ?? 0;
    expect(ascii).toBeGreaterThan(1 + idn.length);
    expect(readEmailAddress('a'.repeat(255 - ascii) + idn)).toHaveLength(254);
    expect(readEmailAddress('a'.repeat(256 - ascii) + idn)).toBeUndefined();
  });

  it('has the domain that UTS #46 makes of it, even where our code skips its tables', () => {
    const rules = { checkHyphens: false, checkJoiners: true, useSTD3ASCIIRules: true, verifyDNSLength: true };
    const label = fc.string({ unit: fc.constantFrom(...'aZ09--xn'), maxLength: 66 });
    const domain = fc.array(fc.oneof(label, fc.constant('xn--')), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(domain, (labels) => {
        const ascii = toASCII(labels.join('.').toLowerCase(), { ...rules, checkBidi: true });
        expect(readEmailAddress(`a@${labels.join('.')}`)).toBe(
          ascii && ascii.length <= 252 ? `a@${ascii}` : undefined,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('is its own canonical form, with one @, no capitals and an ASCII domain, whatever it came from', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
      fc.domain(),
    );
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(part, fc.string({ minLength: 1 })), part, (local, domain) => {
        const address = readEmailAddress(`${local}@${domain}`);
        if (address === undefined) return;
        accepted++;
        expect(readEmailAddress(address)).toBe(address);
        expect(address.normalize('NFKC')).toBe(address);
        expect(address).toMatch(/^[^@\s"<>]+@[a-z0-9.-]+$/);
        expect(address).toBe(address.toLowerCase());
        expect(Array.from(address).length).toBeLessThanOrEqual(254);
      }),
      { numRuns: 3_000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});

describe('mail can be sent to', () => {
  const [local, production] = [{ production: false }, { production: true }];

  it.each([
    'a@example.com',
    'a@b.c',
    'a@1.example',
    'a@127.0.0.1.example',
    'a@xn--r8jz45g.xn--zckzah',
    'a@test.example',
  ])('%s', (address) => {
    expect(canGetMail(address, local)).toBe(true);
    expect(canGetMail(address, production)).toBe(true);
  });

  it.each(['a@localhost', 'a@shop.localhost', 'a@example.test', 'a@a.b.test'])(
    '%s in local mode',
    (address) => {
      expect(canGetMail(address, local)).toBe(true);
      expect(canGetMail(address, production)).toBe(false);
    },
  );

  it.each([
    ...[
      'a@b',
      'a@test',
      'a@com',
      'a@127.0.0.1',
      'a@1.2',
      'a@127.1',
      'a@2130706433',
      'a@example.0',
      'a@0x7f.1',
    ],
    ...['a@0x7f000001', 'a@example.0x7f', 'a@example.0x', 'a@example.01'],
  ])('%s nowhere', (address) => {
    expect(readEmailAddress(address)).toBe(address);
    expect(canGetMail(address, local)).toBe(false);
    expect(canGetMail(address, production)).toBe(false);
  });
});

describe('an e-mail address is refused', () => {
  it.each([
    ['nothing in it', ''],
    ['no @', 'zoe.example.test'],
    ['two @', 'zoe@shop@example.test'],
    ['a quoted @', '"zoe@shop"@example.test'],
    ['two @ in a row', 'zoe@@example.test'],
    ['nothing before the @', '@example.test'],
    ['nothing after the @', 'zoe@'],
    ['nothing but an @', '@'],
    ['a name around it', 'Zoë <zoe@example.test>'],
    ['a space before it', ' zoe@example.test'],
    ['a space after it', 'zoe@example.test '],
    ['a space in it', 'zo e@example.test'],
    ['quotes', '"abb"@x'],
    ['quotes around a name', '"zoe"@example.test'],
    ['one quote', 'zo"e@example.test'],
    ['one angle bracket', '<zoe@example.test'],
    ['the other angle bracket', 'zoe>@example.test'],
    ['both beside a letter beyond ASCII', '<zoë>@example.test'],
    ['quotes beside a letter beyond ASCII', '"zoë"@example.test'],
    ['quotes in the domain', 'zoe@exa"mple.test'],
    ['a quoted space', '"zo e"@example.test'],
    ['an empty label', 'zoe@example..test'],
    ['a dot before the domain', 'zoe@.example.test'],
    // This would be a second spelling of the same mailbox.
    ['a dot after the domain', 'zoe@example.test.'],
    ['a label of 64 characters', `zoe@${'a'.repeat(64)}.test`],
    ['a domain of 254 characters', `zoe@${'a.'.repeat(126)}aa`],
    ['an underscore in the domain', 'zoe@my_shop.test'],
    ['an IP address for a domain', 'zoe@[192.0.2.1]'],
    ['a port', 'zoe@example.test:25'],
    ['a path', 'zoe@example.test/x'],
    ['an A-label that decodes to nothing', 'zoe@xn--a.test'],
    ['an A-label that stands for ASCII', 'zoe@xn--zoe-.test'],
    ['a domain in two directions', 'zoe@aא.test'],
  ])('with %s', (_, text) => {
    expect(readEmailAddress(text)).toBeUndefined();
  });

  // NFKC would change these letters. Two email addresses that look alike could then be two users.
  it.each([
    ['a full-width letter', 'ｚoe@example.test'],
    ['a full-width @', 'zoe＠example.test'],
    ['a small @', 'zoe\ufe6bexample.test'],
    ['a ligature', 'ﬁn@example.test'],
    ['a superscript', 'zoe²@example.test'],
    ['the Kelvin sign', '\u212aelvin@example.test'],
    ['a letter and its mark apart', 'zoe\u0308@example.test'],
    ['a mathematical letter', '\u{1d433}oe@example.test'],
    ['a full-width dot in the domain', 'zoe@example．test'],
    ['a circled letter in the domain', 'zoe@ⓔxample.test'],
  ])('because NFKC would change it: %s', (_, text) => {
    expect(text.normalize('NFKC')).not.toBe(text);
    expect(readEmailAddress(text)).toBeUndefined();
  });

  const invisible = [
    ...[0x00, 0x09, 0x0a, 0x0d, 0x1f, 0x7f, 0x80, 0x85, 0x9f], // controls
    ...[0x061c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069], // bidi
    ...[0x00ad, 0x034f, 0x115f, 0x17b4, 0x180b, 0x180e, 0x200b, 0x200c, 0x200d, 0x2060, 0x2064], // ignorable
    ...[0x206f, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe01ef],
    ...[0x20, 0xa0, 0x1680, 0x2000, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000], // spaces
    ...[0xd800, 0xdfff], // half a character
  ];

  it.each(invisible.map((code) => code.toString(16).padStart(4, '0')))(
    'with U+%s before, within or after either part',
    (code) => {
      const character = String.fromCodePoint(Number.parseInt(code, 16));
      for (const [local, domain] of [
        [`${character}zoe`, 'example.test'],
        [`z${character}oe`, 'example.test'],
        [`zoe${character}`, 'example.test'],
        ['zoe', `${character}example.test`],
        ['zoe', `exa${character}mple.test`],
        ['zoe', `example.test${character}`],
      ]) {
        expect(readEmailAddress(`${local}@${domain}`)).toBeUndefined();
      }
    },
  );
});
