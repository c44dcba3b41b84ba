// Many requests use the links to a new address at the same moment, or while something else happens, on two instances.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/app/app.ts';
import { logIn, openBrowser } from '../support/app/visitor.ts';
import { newPassword, password, race, shareAddressChanges } from '../support/people/address-changes.ts';
import { addPasskey, createAuthenticator } from '../support/people/authenticator.ts';
import { readToken } from '../support/people/kept-mail.ts';
import { expectDead, offer, offeredLink, offerTo } from '../support/people/new-addresses.ts';
import { answerWith } from '../support/people/take-backs.ts';
import { setUp, showCode } from '../support/people/totp-app.ts';

const changes = shareAddressChanges();
const form = { newPassword };
const rounds = 5;
// Without this, new passwords would be limited, because all requests come from one IP address.
beforeEach(async () => {
  await sql`delete from rate_limits where key like 'new-password-%'`.execute(changes.app.db);
});

const count = async (query: ReturnType<typeof sql>) => (await query.execute(changes.app.db)).rows.length;

/**
 * Returns how many answers succeeded: of all answers, or of those at even or odd places. Expects each answer to be 303 or 404.
 */
function wins(answers: Answer[], parity?: number): number {
  for (const { status } of answers) expect([303, 404]).toContain(status);
  return answers.filter(({ status }, at) => status === 303 && (parity === undefined || at % 2 === parity))
    .length;
}

const isUsed = async (id: string) =>
  (await changes.eventsOf(id)).filter((type) => type === 'email.new_address_used').length;

describe('sixteen at once', () => {
  it('use the link: one gets in', async () => {
    for (let round = 0; round < rounds; round++) {
      const person = await changes.signUp();
      const { fresh, link, stopLink } = await offerTo(changes, person);
      const answers = await race((at) => changes.sendOf(at)(link, { form }));
      expect(wins(answers)).toBe(1);
      expect(await isUsed(person.id)).toBe(1);
      expect(await changes.emailOf(person.id)).toBe(fresh);
      expect(await count(sql`select from sessions where user_id = ${person.id} and ended_at is null`)).toBe(
        1,
      );
      expect(await count(sql`select from reserved_addresses where user_id = ${person.id}`)).toBe(1);
      await expectDead(changes, { link, stopLink }, form);
    }
  });

  it('use and stop: one of them counts, whichever it is', async () => {
    const outcomes = { used: 0, stopped: 0 };
    for (let round = 0; round < 2 * rounds; round++) {
      const person = await changes.signUp();
      const { fresh, link, stopLink } = await offerTo(changes, person);
      const answers = await race(
        (at) => changes.sendOf(at)(link, { form }),
        async (at) => {
          // In odd rounds, these requests wait until the others have hashed their passwords, so that both orders are tested.
          await new Promise((done) => setTimeout(done, round % 2 ? 150 * at : 0));
          return changes.sendOf(at)(stopLink, { form: {} });
        },
      );
      expect(wins(answers)).toBe(1);
      const used = wins(answers, 0) === 1;
      outcomes[used ? 'used' : 'stopped']++;
      expect(await changes.emailOf(person.id)).toBe(used ? fresh : person.email);
      const events = await changes.eventsOf(person.id);
      expect(events.includes('email.new_address_used')).toBe(used);
      expect(events.includes('email.new_address_stopped')).toBe(!used);
      await expectDead(changes, { link, stopLink }, form);
    }
    expect(outcomes.used + outcomes.stopped).toBe(2 * rounds);
    expect(outcomes.stopped).toBeGreaterThan(0);
  });

  it('use the link and one code: no code counts twice', async () => {
    const person = await changes.signUp();
    const { secret } = await setUp(person.browser, changes.clock.now.getTime());
    changes.passTime(60_000);
    const { link } = await offerTo(changes, person);
    const code = showCode(secret, changes.clock.now.getTime());
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => changes.sendOf(at)(link, { form: { ...form, code } })),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(await isUsed(person.id)).toBe(1);
  });

  it('use the link and one passkey: one gets in', async () => {
    const person = await changes.signUp();
    const passkey = await addPasskey(person.browser, createAuthenticator({ counts: false }));
    const { link } = await offerTo(changes, person);
    const answers = await race(async (at) => {
      const browser = openBrowser(changes.sendOf(at));
      return browser
        .send(link, {
          form: { ...form, passkey: await answerWith(browser, link, passkey, {}, 'new-address') },
        })
        .catch(
          // The link ended before this request asked for its challenge.
          () => ({ status: 404 }) as Answer,
        );
    }).catch(() => [] as Answer[]);
    expect(await isUsed(person.id)).toBe(1);
    expect(answers.filter(({ status }) => status === 303).length).toBeLessThan(2);
  });
});

describe('at the same moment', () => {
  it('two people use links to one address: the first has it', async () => {
    for (let round = 0; round < rounds; round++) {
      const people = [await changes.signUp(), await changes.signUp()];
      const fresh = changes.newEmail();
      const links: string[] = [];
      for (const { id } of people) {
        await offer(changes, id, fresh);
        links.push(await offeredLink(changes, fresh, 'new_address'));
      }
      const answers = await race(
        (at) => changes.sendOf(at)(links[0] ?? '', { form }),
        (at) => changes.sendOf(at)(links[1] ?? '', { form }),
      );
      for (const { status } of answers) expect([303, 404, 409]).toContain(status);
      expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
      expect(await changes.holdersOf(fresh)).toHaveLength(1);
    }
  });

  it('a newer offer and the link of the older one: what counts is one of them, never both', async () => {
    for (let round = 0; round < rounds; round++) {
      const person = await changes.signUp();
      const { fresh, link } = await offerTo(changes, person);
      const newer = changes.newEmail();
      const [answer] = await Promise.all([
        changes.sendOf(round)(link, { form }),
        offer(changes, person.id, newer),
      ]);
      const used = answer?.status === 303;
      expect(await changes.emailOf(person.id)).toBe(used ? fresh : person.email);
      // If the newer offer was made after the change, it is for the new address, so both links may work.
      const newerLink = await offeredLink(changes, newer, 'new_address').catch(() => undefined);
      const works = newerLink && (await changes.app.send(newerLink)).status === 200;
      if (!used) expect(works).toBe(true);
    }
  });

  it('a password set by mail to the old address: who is first wins', async () => {
    for (let round = 0; round < rounds; round++) {
      const person = await changes.signUp();
      const { fresh, link, stopLink } = await offerTo(changes, person);
      await person.browser.send('/forgot-password', { form: { email: person.email }, from: changes.from() });
      const token = await readToken(changes.other, person.email, 'set_password', 2);
      const answers = await race(
        (at) => changes.sendOf(at)(link, { form }),
        (at) =>
          changes.sendOf(at)(`/set-password?token=${token}`, {
            form: { newPassword: 'nine other lanterns' },
          }),
      );
      expect(wins(answers)).toBe(1);
      const used = wins(answers, 0) === 1;
      const right = used ? newPassword : 'nine other lanterns';
      const owner = await logIn(changes.app.send, used ? fresh : person.email, right);
      expect(await owner.whoAmI()).toBe(used ? fresh : person.email);
      await expectDead(changes, { link, stopLink }, form);
    }
  });

  it('a suspension: the suspended person is not logged in', async () => {
    for (let round = 0; round < rounds; round++) {
      const person = await changes.signUp();
      const { link } = await offerTo(changes, person);
      const [answer] = await Promise.all([
        changes.sendOf(round)(link, { form }),
        sql`update users set suspended_at = now() where id = ${person.id}`.execute(changes.app.db),
      ]);
      expect([303, 404]).toContain(answer?.status);
      expect(await count(sql`select from sessions where user_id = ${person.id} and ended_at is null`)).toBe(
        0,
      );
      expect((await changes.sendOf(round)(link, { form })).status).toBe(404);
    }
  });

  it('the owner’s own change of address: one address, and no link of the other', async () => {
    for (let round = 0; round < rounds; round++) {
      const person = await changes.signUp();
      const own = await changes.askForLink(person.browser, changes.newEmail());
      const { fresh, link, stopLink } = await offerTo(changes, person);
      const [used, changed] = await Promise.all([
        changes.sendOf(round)(link, { form }),
        person.browser.send(own, { form: {} }),
      ]);
      expect([used?.status, changed?.status].filter((status) => status === 303).length).toBeGreaterThan(0);
      const email = await changes.emailOf(person.id);
      expect(email === fresh).toBe(used?.status === 303);
      expect(email).not.toBe(person.email);
      expect(await changes.holdersOf(email)).toEqual([person.id]);
      await expectDead(changes, { link, stopLink }, form);
      expect(password).not.toBe(newPassword);
    }
  });
});
