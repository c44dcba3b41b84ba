import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { tellOfInvoiceEmail } from '../../server/billing/customers/invoice-email.ts';
import { notify } from '../../server/identity/ground/notices.ts';
import { eraseDueUsers } from '../../server/identity/person/erase-user.ts';
import type { TestApp } from '../support/app/app.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { newPassword, password, shareAddressChanges } from '../support/people/address-changes.ts';
import { addPasskey, createAuthenticator, fetchOptions, origin } from '../support/people/authenticator.ts';
import { linkIn } from '../support/people/mail-server.ts';

const changes = shareAddressChanges();
const hourMs = 60 * 60 * 1_000;

/** Does `act` `count` times, 16 at the same time, on two instances. */
async function repeat(
  count: number,
  act: (app: Pick<TestApp, 'send' | 'config'>) => Promise<unknown>,
): Promise<void> {
  for (let done = 0; done < count; done += 16) {
    const places = Array.from({ length: Math.min(16, count - done) }, (_, place) => place);
    await Promise.all(places.map((place) => act(place % 2 ? changes.app : changes.instance)));
  }
}

/** Causes `count` notices about acts of the user who holds the address. */
async function flood(email: string, count: number): Promise<void> {
  const { rows } = await sql<{ id: string }>`select id from users where email = ${email}`.execute(
    changes.app.db,
  );
  const user = { id: rows[0]?.id ?? '', email, holdsEmail: true };
  await repeat(count, () =>
    inTransaction(changes.app.db, { by: 'service' }, (trx) =>
      notify(trx, { now: () => changes.clock.now }, user, 'data_downloaded'),
    ),
  );
}

let serial = 0;
/** Makes `count` contracts, as the CRM does for anybody. The holder of the address gets a notice about each. */
const floodByStranger = (email: string, count: number) =>
  repeat(count, async (app) => {
    const at = changes.clock.now;
    const signup = buildSignup(`crm_notice_${serial++}`, { user: { email, name: 'Cora' } }, at);
    expect((await sendSignup(app, signup, { at })).status).toBe(201);
  });

type Row = {
  id: string;
  kind: string;
  isRest: boolean;
  group: string | null;
  text: string | null;
  dueAt: Date;
};
const readNotices = async (email: string): Promise<Row[]> =>
  (
    await sql<Row>`select id, kind, details ? 'rest' as "isRest", details->>'rest' as "group", kept_text as text, next_attempt_at as "dueAt"
      from mails where recipient = ${email} and (kind in ('contract_added', 'data_downloaded', 'passkey_added') or details ? 'rest')
      order by created_at, id`.execute(changes.app.db)
  ).rows;
const countNotices = async (email: string) =>
  (await readNotices(email)).filter(({ isRest }) => !isRest).length;
const readRests = async (email: string) => (await readNotices(email)).filter(({ isRest }) => isRest);

/** Waits until there are `count` summary mails, all sent. Returns their texts. */
const waitForRests = (email: string, count: number): Promise<string[]> =>
  vi.waitFor(async () => {
    const texts = (await readRests(email)).flatMap(({ text }) => text ?? []);
    expect(texts).toHaveLength(count);
    return texts;
  }, 10_000);

const letPass = (window: 'hour' | 'day') =>
  sql`update rate_limits set expire = 1 where key like ${`notices-${window}:%`}`.execute(changes.app.db);

/**
 * Arranges somebody who gets no more notices this hour and has a summary mail about that, and a thief who knows the password.
 */
async function fillUp(): Promise<{ email: string; id: string; thief: Browser }> {
  const { email, id } = await changes.signUp();
  const thief = await logIn(changes.app.send, email, password);
  await flood(email, 40);
  await waitForRests(email, 1);
  return { email, id, thief };
}

const linkOf = (text = '') => {
  const { pathname, search } = linkIn({ text }, '/take-back');
  return pathname + search;
};

describe('notices to one mailbox', () => {
  it('are 20 an hour, even when 16 come at once to two instances, and 60 a day (contract 9.132)', async () => {
    const { email } = await changes.signUp();
    await sql`truncate rate_limits`.execute(changes.app.db);
    for (const total of [20, 40, 60, 60]) {
      await flood(email, 32);
      expect(await countNotices(email)).toBe(total);
      await letPass('hour');
    }
    await letPass('day');
    await flood(email, 1);
    expect(await countNotices(email)).toBe(61);
  });

  it('do not count if their change fails', async () => {
    const { email } = await changes.signUp();
    await sql`truncate rate_limits`.execute(changes.app.db);
    await sql`alter table webhook_requests add constraint nothing check (false) not valid`.execute(
      changes.app.db,
    );
    for (let n = 0; n < 10; n++) {
      const signup = buildSignup(`crm_undone_${n}`, { user: { email, name: 'Cora' } });
      expect((await sendSignup(changes.app, signup)).status).toBe(500);
    }
    await sql`alter table webhook_requests drop constraint nothing`.execute(changes.app.db);
    await floodByStranger(email, 5);
    expect([await countNotices(email), await readRests(email)]).toEqual([5, []]);
  });

  it('leave those of others alone', async () => {
    const { email } = await changes.signUp();
    await fillUp();
    await flood(email, 1);
    expect(await countNotices(email)).toBe(1);
  });
});

/** Contract 9.270. */
describe('notices that others cause', () => {
  it('are five an hour and 20 a day of each kind, even when 16 come at once to two instances', async () => {
    const { email } = await changes.signUp();
    await sql`truncate rate_limits`.execute(changes.app.db);
    for (const total of [5, 10, 15, 20, 20]) {
      await floodByStranger(email, 16);
      expect(await countNotices(email)).toBe(total);
      await sql`update rate_limits set expire = 1 where key like 'notices-contract_added-hour:%'`.execute(
        changes.app.db,
      );
    }
  });

  it('use up no notices about the login, and hold none of them back', async () => {
    const { email } = await changes.signUp();
    await sql`truncate rate_limits`.execute(changes.app.db);
    await floodByStranger(email, 80);
    expect(await countNotices(email)).toBe(5);
    await addPasskey(await logIn(changes.app.send, email, password));
    await flood(email, 30);
    const own = (await readNotices(email)).filter(({ isRest, kind }) => !isRest && kind !== 'contract_added');
    expect(own.filter(({ kind }) => kind === 'passkey_added')).toHaveLength(1);
    // The limit is twenty, but one notice may be about the login in a new browser. `readNotices` leaves this notice out.
    expect(own.length).toBeGreaterThanOrEqual(19);
    // Each group of notices has its own summary mail.
    const groups = (await readRests(email)).map(({ group }) => group);
    expect([...new Set(groups)].sort()).toEqual(['contract_added', 'true']);
  });

  it('of somebody else in the account are counted apart, too', async () => {
    const { email, id } = await changes.signUp();
    await sql`truncate rate_limits`.execute(changes.app.db);
    const { rows } = await sql<{
      accountId: string;
    }>`select account_id as "accountId" from users where id = ${id}`.execute(changes.app.db);
    const accountId = rows[0]?.accountId ?? '';
    await repeat(30, () =>
      inTransaction(changes.app.db, { by: 'service' }, (trx) =>
        tellOfInvoiceEmail(trx, { now: () => changes.clock.now }, accountId, 'kept', undefined),
      ),
    );
    await flood(email, 10);
    expect(await countNotices(email)).toBe(10);
  });
});

describe('the summary mail (contract 9.133)', () => {
  it('says that more happened, since when, and where to look', async () => {
    const { email } = await fillUp();
    const [text = ''] = await waitForRests(email, 1);
    expect(text).toContain('we send one email about all of them instead of one each');
    expect(text).toMatch(/^Since: .* UTC$/m);
    expect(linkIn({ text }, '/profile/activity').search).toBe('');
  });

  it('is one an hour: what comes meanwhile is in the next', async () => {
    const { email } = await fillUp();
    await flood(email, 32);
    const [, next, ...more] = await readRests(email);
    expect([next?.text, next?.dueAt, more]).toEqual([
      null,
      new Date(changes.clock.now.getTime() + hourMs),
      [],
    ]);
    changes.passTime(hourMs);
    await waitForRests(email, 2);
    await flood(email, 1);
    expect((await readRests(email)).at(-1)?.dueAt).toEqual(new Date(changes.clock.now.getTime() + hourMs));
  });

  it('has the take-back link of what was held back, at once, and says until when it works', async () => {
    const { email, thief } = await fillUp();
    // A summary mail that waits for its hour leaves immediately if it gets a notice with a take-back link.
    await flood(email, 1);
    await addPasskey(thief);
    const text = (await waitForRests(email, 2)).at(-1) ?? '';
    expect(text).toMatch(/The link works once, in any browser, until .* UTC\./);
    expect(text).toContain('go to Activity to see everything that happened');
    // The next summary mail with a take-back link waits for its hour, and has the newest link.
    for (const name of ['Second', 'Third']) await addPasskey(thief, createAuthenticator(), name);
    await flood(email, 1);
    expect(await readRests(email)).toHaveLength(3);
    changes.passTime(hourMs);
    const last = (await waitForRests(email, 3)).at(-1);
    for (const each of [text, last]) expect((await changes.app.send(linkOf(each))).status).toBe(200);
    const owner = openBrowser(changes.app.send);
    expect(textOf(await owner.send(linkOf(last))).match(/A passkey was added/g)).toHaveLength(3);
    expect((await owner.send(linkOf(last), { form: { newPassword } })).status).toBe(303);
    expect([await owner.whoAmI(), await thief.whoAmI()]).toEqual([email, undefined]);
  });

  it('leaves out no link, even where 16 passkeys are added at once while it is being sent', async () => {
    const { email, thief } = await fillUp();
    const options = await Promise.all(Array.from({ length: 16 }, () => fetchOptions(thief, 'add')));
    const answers = await Promise.all(
      options.map(async (each, at) => {
        await new Promise((done) => setTimeout(done, at * 80));
        const passkey = createAuthenticator().register(each, origin);
        return changes.app.send('/profile/passkeys/add', {
          cookie: thief.cookie(),
          form: { name: `Key ${at}`, passkey },
        });
      }),
    );
    const added = answers.filter(({ status }) => status === 303).length;
    expect(added).toBeGreaterThan(0);
    changes.passTime(hourMs);
    await vi.waitFor(async () => {
      const waiting = (await readRests(email)).filter(({ text }) => text === null);
      expect(waiting).toEqual([]);
    }, 10_000);
    const { rows } = await sql<{ missed: number }>`
      select count(*)::int as missed from take_back_changes c where c.email = ${email} and not exists (
        select from mail_tokens t join take_back_changes n on n.id = t.change_id
          where t.email = c.email and n.at >= c.at)`.execute(changes.app.db);
    expect(rows).toEqual([{ missed: 0 }]);
  });

  it('goes without its link once that has ended', async () => {
    const { email, thief } = await fillUp();
    await addPasskey(thief);
    const link = linkOf((await waitForRests(email, 2)).at(-1));
    await addPasskey(thief, createAuthenticator(), 'Second');
    const waiting = (await readRests(email)).at(-1);
    expect((await openBrowser(changes.app.send).send(link, { form: { newPassword } })).status).toBe(303);
    const [, , stripped, ...more] = await readRests(email);
    expect([stripped?.id, more]).toEqual([waiting?.id, []]);
    changes.passTime(hourMs);
    const text = (await waitForRests(email, 3)).at(-1) ?? '';
    expect(linkIn({ text }, '/profile/activity').search).toBe('');
  });

  it('keeps its link when a new password is set by mail', async () => {
    const { email, thief } = await fillUp();
    await addPasskey(thief);
    await waitForRests(email, 2);
    await addPasskey(thief, createAuthenticator(), 'Second');
    const form = { intent: 'password', currentPassword: password, newPassword };
    expect((await thief.send('/profile/security', { form })).status).toBe(303);
    changes.passTime(hourMs);
    expect((await changes.app.send(linkOf((await waitForRests(email, 3)).at(-1)))).status).toBe(200);
  });

  it('goes with its user when they are erased, who are told so', async () => {
    const { email, id } = await fillUp();
    await flood(email, 1);
    await sql`update users set deletion_due_at = now() where id = ${id}`.execute(changes.app.db);
    await eraseDueUsers(changes.other.backend.deps);
    expect(await readRests(email)).toEqual([]);
    // The mail about the deletion is sent even to a mailbox that gets no more notices.
    const { rows } = await sql`select kind from mails where recipient = ${email}`.execute(changes.app.db);
    expect(rows).toEqual([{ kind: 'account_deleted' }]);
  });
});

it('that an account is frozen is never held back (contract 9.132)', async () => {
  const { email, browser } = await changes.signUp();
  changes.passTime(8 * 24 * hourMs);
  await browser.login(email, password);
  await addPasskey(browser);
  const present = changes.newEmail();
  const link = await changes.change(browser, email, present);
  await flood(present, 40);
  const frozen = await openBrowser(changes.app.send).send(link, { form: { intent: 'freeze' } });
  expect(frozen.status).toBe(303);
  const { rows } = await sql<{ recipient: string }>`select recipient from mails
    where kind = 'account_frozen' and not details ? 'rest'
      and recipient in (${email}, ${present})`.execute(changes.app.db);
  expect(rows.map(({ recipient }) => recipient).sort()).toEqual([email, present].sort());
});
