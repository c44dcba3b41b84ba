// People who change their email address: their browsers, mails and links, on two instances with a clock that tests set.
import { sql } from 'kysely';
import { beforeEach, expect } from 'vitest';
import { type Answer, openApp, type TestApp } from '../app/app.ts';
import { openBackend } from '../app/backend.ts';
import { retryWhileBusy } from '../app/patience.ts';
import { type Browser, logIn, openBrowser } from '../app/visitor.ts';
import { shared } from '../run/shared.ts';
import { countLetters, readToken } from './kept-mail.ts';

export const password = 'seven quiet lanterns';
export const newPassword = 'eight louder lanterns';
export const dayMs = 24 * 60 * 60 * 1_000;

/**
 * Sends sixteen requests at the same time: eight times `first` and eight times `second`, each with a number from 0 to 7. A request
 * that a busy machine answers with 503 is sent again.
 */
export const race = (first: (at: number) => Promise<Answer>, second = first) =>
  Promise.all(
    Array.from({ length: 16 }, (_, at) => retryWhileBusy(() => (at % 2 ? second : first)(at >> 1))),
  );

export type AddressChanges = Awaited<ReturnType<typeof openAddressChanges>>;

/** Opens everything before the first test of a file, and closes it after the last. Each test starts at the same instant. */
export function shareAddressChanges(): AddressChanges {
  const changes = shared(openAddressChanges);
  beforeEach(() => changes.startOver());
  return changes;
}

async function openAddressChanges() {
  // The clock starts at the present, because the database sweeps by its own clock.
  const startedAt = new Date();
  const clock = { now: startedAt };
  const now = () => clock.now;
  const app = await openApp({ now });
  const instance = await app.startInstance();
  // The backend is on the same database, and shows what the mails say.
  const other = await openBackend({ databaseUrl: app.databaseUrl, now });

  let serial = 0;
  const newEmail = () => `change-${serial++}@example.test`;
  /** An IP address in a network of its own. */
  const from = () => `10.${serial++ % 250}.${serial % 250}.1`;

  async function signUp(email = newEmail()): Promise<{ browser: Browser; email: string; id: string }> {
    const browser = openBrowser(app.send);
    await browser.send('/signup', { form: { name: 'Cora Change', email }, from: from() });
    const token = await readToken(other, email, 'sign_up');
    const form = { name: 'Cora Change', newPassword: password };
    expect((await browser.send(`/signup/confirm?token=${token}`, { form })).status).toBe(303);
    return { browser, email, id: await browser.whoseId() };
  }

  const ask = (browser: Browser, email: string) =>
    browser.send('/profile/email', { form: { email }, from: from() });

  async function askForLink(browser: Browser, email: string): Promise<string> {
    const asked = await ask(browser, email);
    expect([asked.status, asked.headers.get('location')]).toEqual([303, '/profile/email?sent']);
    return `/profile/email/confirm?token=${await readToken(other, email, 'change_email')}`;
  }

  async function cancel(browser: Browser): Promise<[status: number, location: string | null]> {
    const answer = await browser.send('/profile', { form: { intent: 'cancel-email' } });
    return [answer.status, answer.headers.get('location')];
  }

  const click = (browser: Browser, link: string) => browser.send(link, { form: {} });

  /** Changes the email address. Returns the take-back link in the mail to the old address. */
  async function change(browser: Browser, old: string, email: string): Promise<string> {
    const done = await click(browser, await askForLink(browser, email));
    expect([done.status, done.headers.get('location')]).toEqual([303, '/profile?saved=email-changed']);
    return takeBackLinkOf(old);
  }

  /** Returns the take-back link in the newest mail to this email address that has such a link. */
  async function takeBackLinkOf(email: string): Promise<string> {
    const count = await countLetters(app.db, email);
    return `/take-back?token=${await readToken(other, email, 'undo_email_change', count)}`;
  }

  /** Somebody who has just changed the address `email`, and the take-back link that `email` got. */
  async function leave() {
    const { browser, email, id } = await signUp();
    const present = newEmail();
    const link = await change(browser, email, present);
    return { browser, email, id, present, link };
  }

  /** Somebody who has had their account for a month, and a thief who knows the password, in another browser. */
  async function rob() {
    const { browser, email, id } = await signUp();
    clock.now = new Date(clock.now.getTime() + 30 * dayMs);
    return { browser, email, id, thief: await logIn(app.send, email, password) };
  }

  const { db } = app;
  return {
    app,
    instance,
    other,
    clock,
    newEmail,
    from,
    signUp,
    ask,
    askForLink,
    cancel,
    click,
    change,
    leave,
    rob,
    startOver: () => {
      clock.now = startedAt;
    },
    passTime: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
    },
    undo: (link: string, send: TestApp['send'] = app.send) => send(link, { form: { newPassword } }),
    emailOf: async (id: string) =>
      (await db.selectFrom('users').select('email').where('id', '=', id).executeTakeFirstOrThrow()).email,
    holdersOf: async (email: string) =>
      (
        await sql<{ id: string }>`select id from users where email = ${email} and holds_email`.execute(db)
      ).rows.map(({ id }) => id),
    eventsOf: async (id: string) =>
      (await sql<{ type: string }>`select type from audit_events where user_id = ${id}`.execute(db)).rows.map(
        ({ type }) => type,
      ),
    countMails: async (email: string) =>
      (await sql`select from mails where recipient = ${email}`.execute(db)).rows.length,
    sendOf: (at: number) => (at % 2 ? instance : app).send,
    async close() {
      await other.close();
      await app.close();
    },
  };
}
