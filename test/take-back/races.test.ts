// Taking an account back while the thief, or the reader of another mailbox, does something at the same moment: on two
// instances, whatever comes first.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { eraseUser } from '../../server/identity/erase-user.ts';
import { dayMs, newPassword, password, shareAddressChanges } from '../support/address-changes.ts';
import type { Answer } from '../support/app.ts';
import { addPasskey, logInByPasskey } from '../support/authenticator.ts';
import { linkOf } from '../support/take-backs.ts';
import { setUp, showCode } from '../support/totp-app.ts';
import { openBrowser } from '../support/visitor.ts';

const changes = shareAddressChanges();
const sends = [changes, changes].map(
  (_, at) =>
    (...given: Parameters<typeof changes.app.send>) =>
      (at ? changes.instance : changes.app).send(...given),
);
const sendOf = (at: number) => sends[at % 2] ?? changes.app.send;

/** Sixteen at once: even ones are the first, odd ones the second, on either instance. */
const race = (first: (at: number) => Promise<Answer>, second: (at: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: 16 }, (_, at) => (at % 2 ? second(at >> 1) : first(at >> 1))));

const wins = (answers: Answer[], parity: number) =>
  answers.filter(({ status }, at) => at % 2 === parity && status === 303).length;

async function rob() {
  const { email, id, browser } = await changes.signUp();
  changes.passTime(30 * dayMs);
  const thief = openBrowser(changes.app.send);
  await thief.login(email, password);
  return { email, id, browser, thief };
}

const sessionsOf = async (id: string) =>
  (await sql`select from sessions where user_id = ${id} and ended_at is null`.execute(changes.app.db)).rows
    .length;

describe('a take-back', () => {
  it('and logins by the thief’s passkey: one session is left, the owner’s', async () => {
    const { email, id, thief } = await rob();
    const passkey = await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    const answers = await race(
      (at) => sendOf(at)(link, { form: { newPassword } }),
      (at) => logInByPasskey(openBrowser(sendOf(at)), passkey),
    );
    expect(wins(answers, 0)).toBe(1);
    expect(await sessionsOf(id)).toBe(1);
    expect((await logInByPasskey(openBrowser(changes.app.send), passkey)).status).toBe(401);
  });

  it('and changes of the address: the mailbox has the account', async () => {
    const { email, id, thief } = await rob();
    await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    const confirm = await changes.askForLink(thief, changes.newEmail());
    const answers = await race(
      (at) => sendOf(at)(link, { form: { newPassword } }),
      () => changes.click(thief, confirm),
    );
    expect(wins(answers, 0)).toBe(1);
    expect(await changes.emailOf(id)).toBe(email);
    expect(await sessionsOf(id)).toBe(1);
  });

  it('and freezes: one of the two, once', async () => {
    const { email, id, browser } = await rob();
    await browser.login(email, password);
    const { secret } = await setUp(browser, changes.clock.now.getTime());
    const link = await changes.change(browser, email, changes.newEmail());
    const code = showCode(secret, changes.clock.now.getTime() + 30_000);
    const answers = await race(
      (at) => sendOf(at)(link, { form: { newPassword, code }, from: changes.from() }),
      (at) => sendOf(at)(link, { form: { intent: 'freeze' } }),
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
    const { email, id, thief } = await rob();
    await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    const erase = () =>
      inTransaction(changes.app.db, { by: 'service', cause: 'erasure' }, (trx) =>
        eraseUser(trx, id, { now: changes.clock.now, by: 'cli', onlyDue: false }),
      );
    const [answers] = await Promise.all([
      Promise.all(Array.from({ length: 15 }, (_, at) => sendOf(at)(link, { form: { newPassword } }))),
      erase(),
    ]);
    expect(answers.filter(({ status }) => status === 303).length).toBeLessThanOrEqual(1);
    for (const { status } of answers) expect([303, 404]).toContain(status);
    const { rows } = await sql`select from users where id = ${id}
      union all select from take_back_changes where user_id = ${id}
      union all select from mail_tokens where user_id = ${id}`.execute(changes.app.db);
    expect(rows).toEqual([]);
  });

  it('by two mailboxes of one account: the earlier one has it in the end', async () => {
    const { email, id, browser } = await rob();
    await browser.login(email, password);
    const second = changes.newEmail();
    const first = await changes.change(browser, email, second);
    const later = await changes.change(browser, second, changes.newEmail());
    const answers = await race(
      (at) => sendOf(at)(first, { form: { newPassword } }),
      (at) => sendOf(at)(later, { form: { newPassword } }),
    );
    expect(wins(answers, 0)).toBe(1);
    expect(wins(answers, 1)).toBeLessThanOrEqual(1);
    expect(await changes.emailOf(id)).toBe(email);
  });
});
