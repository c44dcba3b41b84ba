// Contract 9.238: what a mail server answered is in the log, without the person's address.
import { describe, expect, it } from 'vitest';
import { describeAnswer } from '../../server/mail/describe-answer.ts';

const zoe = 'zoe.stone+shop@xn--bcher-kva.example';

describe('what a mail server answered', () => {
  it.each([
    ['452 4.2.2 Mailbox full', '452 4.2.2 Mailbox full'],
    [
      '550 5.1.1 <zoe.stone+shop@bücher.example>: Recipient address rejected: unknown',
      '550 5.1.1 … Recipient address rejected: unknown',
    ],
    ['550 <ZOE.STONE+SHOP@XN--BCHER-KVA.EXAMPLE> is not welcome', '550 … is not welcome'],
    ['550 user zoe.stone+shop unknown', '550 user … unknown'],
    ['550 User "Zoe.Stone" unknown at bücher.example', '550 User "…" unknown at …'],
    [
      '450 Name service error for name=xn--bcher-kva.example type=MX',
      '450 Name service error for name=… type=MX',
    ],
    ['550 zoe.stone=40example.com bounced', '550 … bounced'],
    ['550 see https://help.example/?to=zoe%40example.com', '550 see …'],
    ['550 also other＠example.org, at bu\u0308cher.example', '550 also … at …'],
    ['550 also other@example.org, and postmaster@mx.example', '550 also … and …'],
    [
      '550-5.7.1 First line\r\n550 5.7.1 second\u2028line\u001b[2J',
      '550-5.7.1 First line 550 5.7.1 second line [2J',
    ],
    [
      '554 your link https://id.example/take-back?token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      '554 your link https://id.example/take-back?token=…',
    ],
    ['554 token=AAAAAAAAAAAAAAAAAAAA=\r\nAAAAAAAAAAAAAAAAAAAAAAA', '554 token=AAAAAAAAAAAAAAAAAAAA= …'],
    [
      '421 stonewall and zoes are other words than zoe.stone.',
      '421 stonewall and zoes are other words than ….',
    ],
  ])('%j', (answer, expected) => {
    expect(describeAnswer(answer, zoe)).toBe(expected);
  });

  it('is as long as 200 characters, whatever comes, and nothing where nothing came', () => {
    expect(describeAnswer('550 no '.repeat(10_000), zoe)).toHaveLength(200);
    expect(describeAnswer(`${'x '.repeat(996)}zoe.stone+shop@bücher.example`, zoe)).not.toMatch(/zoe/);
    expect(describeAnswer(undefined, zoe)).toBeUndefined();
    expect(describeAnswer('', zoe)).toBeUndefined();
  });

  it.each(['a', "o'neil", '$&', '(.*', '[x]', 'x|y', '{2}', 'ж', 'a-b', '100%', '\\d', 'a/b'])(
    'is without a local part such as %s',
    (local) => {
      const answer = describeAnswer(`550 no such user: ${local} here`, `${local}@example.com`);
      expect(answer).toBe('550 no such user: … here');
    },
  );

  it('takes no time for an answer that is made to take long', () => {
    const startedAt = performance.now();
    for (const part of ['zoe.stone', 'a-', '…', '@', ' ', '\u0000'])
      describeAnswer(part.repeat(500_000), zoe);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});
