// Taking an account back while somebody else does something at the same moment, on two instances.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { endsWithPerson } from '../../server/billing/customers/ends-with-person.ts';
import { eraseUser } from '../../server/identity/person/erase-user.ts';
import type { Answer } from '../support/app/app.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { newPassword, password, race, shareAddressChanges } from '../support/people/address-changes.ts';
import {
  type Authenticator,
  addPasskey,
  createAuthenticator,
  logInByPasskey,
} from '../support/people/authenticator.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import { answerWith, linkOf } from '../support/people/take-backs.ts';
import { setUp, showCode } from '../support/people/totp-app.ts';

const changes = shareAddressChanges();

const wins = (answers: Answer[], parity: number) =>
  answers.filter(({ status }, at) => at % 2 === parity && status === 303).length;

/** Arranges somebody with a passkey that a take-back keeps, and their take-back link. */
async function protect() {
  const { email, id, browser } = await changes.rob();
  await browser.login(email, password);
  // This passkey has no counter. With a counter, answers that arrive in another order would be refused.
  const passkey = await addPasskey(browser, createAuthenticator({ counts: false }));
  return { email, id, browser, passkey, link: await linkOf(changes, email, 'passkey_added') };
}

const logInAt = (at: number, passkey: Authenticator) =>
  logInByPasskey(openBrowser(changes.sendOf(at)), passkey);

const freeze = (at: number, link: string) => changes.sendOf(at)(link, { form: { intent: 'freeze' } });

/** Erases as `user:delete --now` does, or as the job does if `onlyDue` is set. */
const erase = (id: string, { onlyDue = false } = {}) =>
  inTransaction(changes.app.db, { by: 'service', cause: 'erasure' }, (trx) =>
    eraseUser(trx, { now: () => changes.clock.now, endsWithPerson }, id, { by: 'cli', onlyDue }),
  );

async function expectNothingLeft(id: string): Promise<void> {
  const { rows } = await sql`select from users where id = ${id}
    union all select from sessions where user_id = ${id}
    union all select from passkeys where user_id = ${id}
    union all select from take_back_changes where user_id = ${id}
    union all select from reserved_addresses where user_id = ${id}
    union all select from mail_tokens where user_id = ${id}`.execute(changes.app.db);
  expect(rows).toEqual([]);
}

const isFrozen = async (id: string) =>
  (await sql`select from users where id = ${id} and frozen_at is not null`.execute(changes.app.db)).rows
    .length === 1;

const expectStatuses = (answers: Answer[], parity: number, allowed: number[]) =>
  expect(allowed).toEqual(
    expect.arrayContaining(answers.filter((_, at) => at % 2 === parity).map(({ status }) => status)),
  );

const sessionsOf = async (id: string) =>
  (await sql`select from sessions where user_id = ${id} and ended_at is null`.execute(changes.app.db)).rows
    .length;

describe('a take-back', () => {
  it('and logins by the thief’s passkey: one session is left, the owner’s', async () => {
    const { email, id, thief } = await changes.rob();
    const passkey = await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    const answers = await race(
      (at) => changes.sendOf(at)(link, { form: { newPassword } }),
      (at) => logInByPasskey(openBrowser(changes.sendOf(at)), passkey),
    );
    expect(wins(answers, 0)).toBe(1);
    expect(await sessionsOf(id)).toBe(1);
    expect((await logInByPasskey(openBrowser(changes.app.send), passkey)).status).toBe(401);
  });

  it('and changes of the address: the mailbox has the account', async () => {
    const { email, id, thief } = await changes.rob();
    await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    const confirm = await changes.askForLink(thief, changes.newEmail());
    const answers = await race(
      (at) => changes.sendOf(at)(link, { form: { newPassword } }),
      () => changes.click(thief, confirm),
    );
    expect(wins(answers, 0)).toBe(1);
    expect(await changes.emailOf(id)).toBe(email);
    expect(await sessionsOf(id)).toBe(1);
  });

  it('and freezes: one of the two, once', async () => {
    const { email, id, browser } = await changes.rob();
    await browser.login(email, password);
    const { secret } = await setUp(browser, changes.clock.now.getTime());
    const link = await changes.change(browser, email, changes.newEmail());
    const code = showCode(secret, changes.clock.now.getTime() + 30_000);
    const answers = await race(
      (at) => changes.sendOf(at)(link, { form: { newPassword, code }, from: changes.from() }),
      (at) => changes.sendOf(at)(link, { form: { intent: 'freeze' } }),
    );
    const events = await changes.eventsOf(id);
    const taken = events.filter((type) => type === 'account.taken_back').length;
    const frozen = events.filter((type) => type === 'account.frozen').length;
    expect([wins(answers, 0), wins(answers, 1)]).toEqual([taken, frozen]);
    expect(taken + frozen).toBe(1);
    const { rows } = await sql`select suspended_at is not null as frozen from users where id = ${id}`.execute(
      changes.app.db,
    );
    expect(rows).toEqual([{ frozen: frozen === 1 }]);
  });

  it('and erasures: nothing of them is left', async () => {
    const { email, id, thief } = await changes.rob();
    await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    const [answers] = await Promise.all([
      Promise.all(Array.from({ length: 15 }, (_, at) => changes.sendOf(at)(link, { form: { newPassword } }))),
      erase(id),
    ]);
    expect(answers.filter(({ status }) => status === 303).length).toBeLessThanOrEqual(1);
    for (const { status } of answers) expect([303, 404]).toContain(status);
    await expectNothingLeft(id);
  });

  it('by two mailboxes of one account: the earlier one has it in the end', async () => {
    const { email, id, browser } = await changes.rob();
    await browser.login(email, password);
    const second = changes.newEmail();
    const first = await changes.change(browser, email, second);
    const later = await changes.change(browser, second, changes.newEmail());
    const answers = await race(
      (at) => changes.sendOf(at)(first, { form: { newPassword } }),
      (at) => changes.sendOf(at)(later, { form: { newPassword } }),
    );
    expect(wins(answers, 0)).toBe(1);
    expect(wins(answers, 1)).toBeLessThanOrEqual(1);
    expect(await changes.emailOf(id)).toBe(email);
  });
});

describe('a freeze', () => {
  it('and logins by a passkey: no session is left', async () => {
    const { id, link, passkey } = await protect();
    const answers = await race(
      (at) => freeze(at, link),
      (at) => logInAt(at, passkey),
    );
    expect(wins(answers, 0)).toBe(1);
    expectStatuses(answers, 0, [303, 403]);
    expectStatuses(answers, 1, [303, 403]);
    expect(await isFrozen(id)).toBe(true);
    expect(await sessionsOf(id)).toBe(0);
    expect((await logInAt(0, passkey)).status).toBe(403);
  });

  it('and changes of the address: none comes after it, and each mailbox of then is told', async () => {
    const { email, id, browser, link } = await protect();
    const present = changes.newEmail();
    const confirm = await changes.askForLink(browser, present);
    const answers = await race(
      (at) => freeze(at, link),
      () => changes.click(browser, confirm),
    );
    expect(wins(answers, 0)).toBe(1);
    expect(await isFrozen(id)).toBe(true);
    const isChanged = (await changes.emailOf(id)) === present;
    const events = await changes.eventsOf(id);
    expect(events.includes('email.changed')).toBe(isChanged);
    const told = async (mailbox: string) =>
      (await listNotices(changes.app.db, mailbox)).filter((kind) => kind === 'account_frozen').length;
    expect([await told(email), await told(present)]).toEqual([1, isChanged ? 1 : 0]);
  });

  it('and the erasure on its day: either, and never both', async () => {
    for (let round = 0; round < 4; round++) {
      const { id, link } = await protect();
      await sql`update users set deletion_due_at = ${changes.clock.now} where id = ${id}`.execute(
        changes.app.db,
      );
      const [answers] = await Promise.all([
        Promise.all(Array.from({ length: 15 }, (_, at) => freeze(at, link))),
        new Promise((done) => setTimeout(done, round * 5)).then(() => erase(id, { onlyDue: true })),
      ]);
      const frozen = answers.filter(({ status }) => status === 303).length;
      for (const { status } of answers) expect([303, 403, 404]).toContain(status);
      expect(await isFrozen(id)).toBe(frozen === 1);
      if (frozen === 0) await expectNothingLeft(id);
      await sql`delete from rate_limits`.execute(changes.app.db);
    }
  });
});

describe('a login by passkey', () => {
  it('and changes of the address: both are done, and the sessions go on', async () => {
    const { id, browser, passkey } = await protect();
    const present = changes.newEmail();
    const confirm = await changes.askForLink(browser, present);
    const before = await sessionsOf(id);
    const answers = await race(
      (at) => logInAt(at, passkey),
      () => changes.click(browser, confirm),
    );
    expect([wins(answers, 0), wins(answers, 1)]).toEqual([8, 1]);
    expect(await changes.emailOf(id)).toBe(present);
    expect(await sessionsOf(id)).toBe(before + 8);
  });

  it('and an erasure: nothing is left', async () => {
    const { id, passkey } = await protect();
    const [answers] = await Promise.all([
      Promise.all(Array.from({ length: 15 }, (_, at) => logInAt(at, passkey))),
      erase(id),
    ]);
    for (const { status } of answers) expect([303, 401]).toContain(status);
    await expectNothingLeft(id);
  });
});

it('a change of the address and an erasure: nothing is left, and the address is free', async () => {
  const { id, browser } = await protect();
  const present = changes.newEmail();
  const confirm = await changes.askForLink(browser, present);
  const [answers] = await Promise.all([
    Promise.all(Array.from({ length: 15 }, () => changes.click(browser, confirm))),
    erase(id),
  ]);
  for (const { status } of answers) expect(status).toBeLessThan(500);
  await expectNothingLeft(id);
  expect(await changes.holdersOf(present)).toEqual([]);
});

it('all of them at once leave the account with one owner, or frozen, or gone', async () => {
  for (let round = 0; round < 3; round++) {
    const { email, id, browser, passkey, link } = await protect();
    const confirm = await changes.askForLink(browser, changes.newEmail());
    const reader = openBrowser(changes.app.send);
    const given = await answerWith(reader, link, passkey);
    const of: ((at: number) => Promise<Answer>)[] = [
      () => reader.send(link, { form: { newPassword, passkey: given } }),
      (at) => logInAt(at, passkey),
      () => changes.click(browser, confirm),
      (at) => freeze(at, link),
    ];
    const erasure = round === 2 ? [erase(id)] : [];
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => of[(at + round) % of.length]?.(at) as Promise<Answer>),
    );
    await Promise.all(erasure);
    for (const { status } of answers) expect(status).toBeLessThan(500);
    if (round === 2) {
      await expectNothingLeft(id);
      continue;
    }
    const events = await changes.eventsOf(id);
    const [taken, frozen] = ['account.taken_back', 'account.frozen'].map(
      (type) => events.filter((each) => each === type).length,
    );
    expect([taken, frozen]).toContain(1);
    // A take-back uses up the link, and a freeze makes the link refused.
    expect(Number(taken) + Number(frozen)).toBe(1);
    expect(await isFrozen(id)).toBe(frozen === 1);
    if (frozen) expect(await sessionsOf(id)).toBe(0);
    else expect(await changes.emailOf(id)).toBe(email);
    await sql`delete from rate_limits`.execute(changes.app.db);
  }
});
