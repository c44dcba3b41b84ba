// What administrators see of mails that have not left, and do about them (contract 12.120 to 12.126).
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mailKinds } from '../../db/tables/mail-kinds.ts';
import { claimMails, markMailFailed, markMailSent, retryFailedMails } from '../../db/tables/mails.ts';
import { mailWords } from '../../server/mail/kind-words.ts';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { textOf } from '../support/app/visitor.ts';
import { emptyTables } from '../support/database/empty-tables.ts';
import {
  addPerson,
  addSession,
  addStaff,
  call,
  type Person,
  readData,
  readOutcome,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

let admin: Person & { cookie: string };
let customer: Person;
// No mail server is there, and the mails that the tests write are due in a year.
const app = shared(openApp);
/** The service’s own jobs try a mail within a second after it is due. On a busy machine, they can be faster than a test. */
const busy = { retry: 2 };
beforeAll(async () => {
  admin = await addStaff(app, 'admin');
  customer = await addPerson(app);
});
beforeEach(() => emptyTables(app.db, 'mails', 'rate_limits'));

type Given = {
  kind?: string;
  to?: { id: string; email: string };
  details?: object;
  error?: string | null;
  givenUp?: boolean;
  /** In how many minutes the mail is tried next. */
  dueIn?: number;
  attempts?: number;
};

async function addMail({
  kind = 'new_browser',
  to = customer,
  details = {},
  error = '550 no such mailbox',
  givenUp = false,
  dueIn = 500_000,
  attempts = 3,
}: Given = {}): Promise<string> {
  const id = crypto.randomUUID();
  await sql`insert into mails (id, kind, user_id, recipient, details, created_at, attempts, next_attempt_at, last_error,
      given_up_at)
    values (${id}, ${kind}, ${to.id}, ${to.email}, ${JSON.stringify(details)}::jsonb, ${new Date(Date.now() - 3_600_000)},
      ${attempts}, ${new Date(Date.now() + dueIn * 60_000)}, ${error}, ${givenUp ? new Date() : null})`.execute(
    app.db,
  );
  return id;
}

const list = async (filters = {}, { cookie } = admin) => {
  const answer = await call(app, 'mails.list', cookie, filters, true);
  return answer.status === 200 ? readData(answer) : readOutcome(answer);
};
const seenOf = async (id: string, state?: string): Promise<string> =>
  (await list(state ? { state } : {})).mails.find((mail: { id: string }) => mail.id === id)?.seen;

async function ask(name: 'retry' | 'giveUp', input: object, { cookie } = admin) {
  const answer = await call(app, `mails.${name}`, cookie, { why: 'The mailbox is full', ...input });
  return answer.status === 200 ? readData(answer).done : readOutcome(answer);
}

const read = async (id: string) =>
  (
    await sql<{ given: boolean; sent: boolean; due: boolean; attempts: number; error: string | null }>`
      select given_up_at is not null as given, sent_at is not null as sent, attempts, last_error as error,
        next_attempt_at <= now() + interval '10 seconds' as due from mails where id = ${id}`.execute(app.db)
  ).rows[0];
const events = async (type: string) =>
  (
    await sql<object>`select user_id as "userId", actor_id as "actorId", why, details from audit_events
      where type = ${type} order by id desc`.execute(app.db)
  ).rows;

describe('the list', () => {
  it('shows mails that failed or were given up, or mails of one state or kind', async () => {
    const failed = await addMail();
    const given = await addMail({ kind: 'welcome', givenUp: true });
    const waiting = await addMail({ error: null, attempts: 0 });
    const idsOf = async (filters = {}) =>
      (await list(filters)).mails.map(({ id }: { id: string }) => id).sort();
    expect(await idsOf()).toEqual([failed, given].sort());
    expect(await idsOf({ state: 'failed' })).toEqual([failed]);
    expect(await idsOf({ state: 'given_up' })).toEqual([given]);
    expect(await idsOf({ state: 'waiting' })).toEqual([waiting]);
    expect(await idsOf({ kind: 'welcome' })).toEqual([given]);
    expect(await list({ state: 'sent' })).toBe('422 validation_failed');
    expect(await list({ before: 'x' })).toBe('422 validation_failed');
    expect(await list({}, await addStaff(app, 'manager'))).toBe('404 not_found');
  });

  it.each(['failed', 'waiting'])('leads through %s mails page by page, each once', async (state) => {
    const ids: string[] = [];
    for (let at = 0; at < 60; at++)
      ids.push(await addMail({ error: state === 'failed' ? '550' : null, dueIn: 500_000 + (at % 7) }));
    const first = await list({ state });
    expect(first.mails).toHaveLength(50);
    const second = await list({ state, before: first.next });
    expect(second.next).toBeNull();
    const all: { id: string; createdAt: string; nextTryAt: string }[] = [...first.mails, ...second.mails];
    const times = all.map(({ createdAt, nextTryAt }) => (state === 'failed' ? createdAt : nextTryAt));
    const sorted = [...times].sort();
    expect(times).toEqual(state === 'failed' ? sorted.reverse() : sorted);
    const found = all.map(({ id }) => id);
    expect([...found].sort()).toEqual(ids.sort());
    // The list in the other order, and the number of mails in it (contract 12.240 to 12.242).
    const sort = state === 'failed' ? 'written' : '-next';
    const last = await list({ state, sort });
    const others = await list({ state, sort, before: last.next });
    expect([...last.mails, ...others.mails].map(({ id }) => id)).toEqual(found.reverse());
    expect([first.count, second.count, last.count, others.next]).toEqual([60, 60, 60, null]);
    const none = state === 'failed' ? ['next', '-next', 'to'] : ['written', '-written', 'to'];
    for (const each of none) expect(await list({ state, sort: each })).toBe('422 validation_failed');
  });

  it('is searched by person (contract 12.246)', async () => {
    const [own, other] = [await addPerson(app, { name: 'Ottokar Wunderlich' }), await addPerson(app)];
    const [failed, waiting] = [await addMail({ to: own }), await addMail({ to: own, error: null })];
    await addMail({ to: other });
    const idsOf = async (filters: object) => (await list(filters)).mails.map(({ id }: { id: string }) => id);
    await expect.poll(() => idsOf({ q: 'ottokar wunder' }), { timeout: 10_000 }).toEqual([failed]);
    expect(await idsOf({ q: ` ${own.email} `, state: 'waiting' })).toEqual([waiting]);
    expect(await list({ q: own.id })).toMatchObject({ count: 1, more: false, next: null });
    expect(await idsOf({ q: 'nobody-has-this' })).toEqual([]);
    expect(await idsOf({ q: '' })).toHaveLength(2);
    expect(await list({ q: 'x'.repeat(201) })).toBe('422 validation_failed');
    const refused = await app.send(`/admin/mails?q=${'x'.repeat(201)}`, { cookie: admin.cookie });
    expect([refused.status, textOf(refused).includes('Search for no more than 200 characters.')]).toEqual([
      422,
      true,
    ]);
  });

  it('has words for every kind of mail, the same to choose from, in the list and in the audit', async () => {
    expect(Object.keys(mailWords).sort()).toEqual([...mailKinds].sort());
    expect(new Set(Object.values(mailWords)).size).toBe(mailKinds.length);
    for (const words of Object.values(mailWords)) expect(words).toMatch(/^[A-Z][^_]+[a-z]$/);
    const id = await addMail({ kind: 'invoice_reminder_2' });
    await addMail({ kind: 'of_a_newer_version' });
    const { mails } = await list();
    expect(mails.map(({ what }: { what: string }) => what).sort()).toEqual([
      'Second reminder of an invoice',
      'of_a_newer_version',
    ]);
    const page = await app.send('/admin/mails', { cookie: admin.cookie });
    expect(page.text).toContain('<option value="invoice_reminder_2">Second reminder of an invoice</option>');
    expect(page.text).toContain(`<span data-mail="${id}">Second reminder of an invoice</span>`);
    await ask('giveUp', { id, seen: await seenOf(id) });
    const audit = await app.send('/admin/audit?kind=staff.give_up_mail', { cookie: admin.cookie });
    expect(textOf(audit)).toContain('Staff: gave up a mail: Second reminder of an invoice');
    const person = await app.send(`/admin/people/${customer.id}/mails`, { cookie: admin.cookie });
    expect(textOf(person)).toContain('Second reminder of an invoice');
  });

  it('says why a mail failed without a secret, an address or a character that moves text', async () => {
    const token = 'Ab-_'.repeat(11).slice(0, 43);
    await addMail({
      error: `554 <${customer.email}> \u202enope\u001b[2J\n=3D${token}= https://id.example.test/take-back?token=${token.slice(0, 30)}=`,
    });
    const [mail] = (await list()).mails;
    expect(mail.error).toMatch(/^554 … nope \[2J/);
    expect(mail.error).not.toContain(token.slice(5, 28));
    expect(mail.error).not.toContain(customer.email.slice(0, 20));
    expect(mail.recipient).toBe(customer.email);
  });

  it('counts as a search, with how many people it has shown (contract 12.35)', async () => {
    await addMail();
    await list();
    expect((await events('staff.searched'))[0]).toMatchObject({ actorId: admin.id, details: { hits: 1 } });
  });
});

describe('send again', () => {
  it.each([
    ['that failed', {}],
    ['that was given up', { givenUp: true }],
    ['with a take-back link', { details: { until: '2099-01-01T00:00:00Z', change: 'x' } }],
  ])('makes a mail %s due at once, and the audit says who and why', busy, async (_, given) => {
    const id = await addMail(given);
    const seen = await seenOf(id);
    expect(await ask('retry', { id, seen })).toBe(true);
    // From now on the mail is tried for three days.
    const { rows } = await sql`select from mails where id = ${id} and created_at > now() - interval '1 minute'
      and attempts = 0`.execute(app.db);
    expect(rows).toHaveLength(1);
    expect(await read(id)).toMatchObject({ given: false, due: true });
    expect((await events('staff.retry_mail'))[0]).toMatchObject({
      ...{ userId: customer.id, actorId: admin.id, why: 'The mailbox is full' },
      details: { by: 'staff', mail: id, kind: 'new_browser' },
    });
  });

  it('does nothing to a mail that is being tried, or has not failed', async () => {
    // A worker took this mail a moment ago, so a try of it is under way.
    const taken = await addMail({ dueIn: 1.5 });
    const fresh = await addMail({ error: null, attempts: 0 });
    const before = [await read(taken), await read(fresh)];
    expect(await ask('retry', { id: taken, seen: await seenOf(taken) })).toBe(false);
    expect(await ask('retry', { id: fresh, seen: await seenOf(fresh, 'waiting') })).toBe(false);
    expect([await read(taken), await read(fresh)]).toEqual(before);
  });

  it('does nothing to a mail that waits with billing after a restore', busy, async () => {
    const id = await addMail({ kind: 'invoice_issued' });
    await sql`update mails set next_attempt_at = '9999-01-01 00:00:00Z' where id = ${id}`.execute(app.db);
    const [mail] = (await list()).mails;
    expect(mail).toMatchObject({ id, isHeld: true, nextTryAt: null, mayRetry: false, mayGiveUp: true });
    expect(await ask('retry', { id, seen: mail.seen })).toBe(false);
    const page = textOf(await app.send('/admin/mails', { cookie: admin.cookie }));
    expect(page).toContain('It waits until billing is resumed');
    expect(page).not.toContain('9999');
  });

  it('waits for the end of a try during which the mail was given up', async () => {
    const id = await addMail({ dueIn: 1.5 });
    await ask('giveUp', { id, seen: await seenOf(id) });
    expect(await ask('retry', { id, seen: await seenOf(id) })).toBe(true);
    expect(await read(id)).toMatchObject({ given: false, due: false });
  });

  it('is done once by sixteen at once', async () => {
    for (const givenUp of [true, false]) {
      const id = await addMail({ givenUp });
      const seen = await seenOf(id);
      const before = (await events('staff.retry_mail')).length;
      const answers = await Promise.all(Array.from({ length: 16 }, () => ask('retry', { id, seen })));
      expect(answers.filter((answer) => answer === true)).toHaveLength(1);
      expect((await events('staff.retry_mail')).length - before).toBe(1);
    }
  });
});

describe('give up', () => {
  it('is done once by sixteen at once, and no retry of all mails tries it again', async () => {
    const id = await addMail();
    const seen = await seenOf(id);
    const answers = await Promise.all(Array.from({ length: 16 }, () => ask('giveUp', { id, seen })));
    expect(answers.filter((answer) => answer === true)).toHaveLength(1);
    expect(answers.filter((answer) => answer === '409 edited_meanwhile')).toHaveLength(15);
    const told = (await events('staff.give_up_mail')) as { details: { mail: string } }[];
    expect(told.filter(({ details }) => details.mail === id)).toHaveLength(1);
    await retryFailedMails(app.db, new Date());
    await sql`update mails set next_attempt_at = now() where id = ${id}`.execute(app.db);
    const now = new Date(Date.now() + 60_000);
    expect(await claimMails(app.db, { lane: 'other', now, leaseEndsAt: now, limit: 10 })).toEqual([]);
    expect(await read(id)).toMatchObject({ given: true, sent: false, attempts: 3 });
  });

  it.each([
    ['with a take-back link', { details: { until: '2099-01-01T00:00:00Z', change: 'x' } }],
    ['a summary mail, which may get one', { details: { rest: 'true', at: '2026-01-01T00:00:00Z' } }],
    ['that stops a new address', { kind: 'stop_new_address', details: { until: '' } }],
    ['about bank details', { kind: 'bank_details_changed' }],
    ['about a stolen session of staff', { kind: 'staff_limited' }],
    ['about texts on invoices', { kind: 'billing_texts_changed' }],
    ['about a role that was given', { kind: 'role_granted' }],
    ['about a freeze', { kind: 'person_frozen' }],
  ])('is refused for a mail %s', async (_, given) => {
    const id = await addMail(given);
    const seen = await seenOf(id);
    expect((await list()).mails[0]).toMatchObject({ mayGiveUp: false, mustLeave: true, mayRetry: true });
    expect(await ask('giveUp', { id, seen })).toBe('403 not_allowed');
    expect(await read(id)).toMatchObject({ given: false });
  });

  it('of a mail that was being sent counts as sent if it left, and as given up if it did not', async () => {
    const [left, failed] = [await addMail(), await addMail()];
    for (const id of [left, failed]) await ask('giveUp', { id, seen: await seenOf(id) });
    await markMailSent(app.db, { id: left }, new Date());
    await markMailFailed(app.db, failed, { error: '451', nextAttemptAt: new Date() });
    expect(await read(left)).toMatchObject({ given: false, sent: true });
    expect(await read(failed)).toMatchObject({ given: true, error: null, due: false });
  });

  it('leaves no address of somebody who is erased', async () => {
    const id = await addMail({ kind: 'account_deleted' });
    await sql`update mails set user_id = null where id = ${id}`.execute(app.db);
    expect(await ask('giveUp', { id, seen: await seenOf(id) })).toBe(true);
    expect(await read(id)).toBeUndefined();
  });

  it('is told to the person in their activity', async () => {
    const id = await addMail();
    await ask('giveUp', { id, seen: await seenOf(id) });
    const { cookie } = await addSession(app, customer.id);
    const page = await app.send('/profile/activity', { cookie });
    expect(textOf(page)).toContain('Our support team stopped trying to send an email that had not arrived');
  });
});

describe.each(['retry', 'giveUp'] as const)('%s', (name) => {
  it('is for administrators, with a credential and a reason, and not about oneself', async () => {
    const id = await addMail();
    const seen = await seenOf(id);
    expect(await ask(name, { id, seen }, await addStaff(app, 'manager'))).toBe('404 not_found');
    expect(await ask(name, { id: 'x', seen })).toBe('404 not_found');
    const authTime = new Date(Date.now() - 11 * 60_000);
    const stale = { ...admin, ...(await addSession(app, admin.id, { authTime })) };
    expect(await ask(name, { id, seen }, stale)).toBe('401 login_required');
    expect(await ask(name, { id, seen, why: 'x' })).toBe('422 validation_failed');
    const own = await addMail({ to: admin });
    expect(await ask(name, { id: own, seen: await seenOf(own) })).toBe('403 not_allowed');
    expect(await read(id)).toMatchObject({ given: false, due: false });
  });

  it('is 409 if the mail has left or is gone', async () => {
    for (const end of [
      (id: string) => markMailSent(app.db, { id }, new Date()),
      (id: string) => sql`delete from mails where id = ${id}`.execute(app.db),
    ]) {
      const id = await addMail();
      const seen = await seenOf(id);
      await end(id);
      expect(await ask(name, { id, seen })).toBe('409 edited_meanwhile');
    }
  });
});

it('the page does both by its forms, and keeps its filters (contract 11.95)', async () => {
  const failed = await addMail({ error: '<b>no</b> such mailbox' });
  const page = await app.send('/admin/mails?state=failed', { cookie: admin.cookie });
  expect(page.text).toContain(`data-mail="${failed}"`);
  expect(page.text).toContain('&lt;b&gt;no&lt;/b&gt;');
  const form = { intent: 'give-up', id: failed, seen: await seenOf(failed), why: 'It bounces' };
  await addMail();
  const refused = await app.send('/admin/mails', { cookie: admin.cookie, form: { ...form, why: 'x' } });
  const rows = refused.text.split('<tr role="row">').slice(2);
  expect(refused.status).toBe(422);
  // The row whose form was refused is open, and no other is.
  expect(rows.map((row) => [row.includes(failed), row.includes('<details open="">')])).toEqual([
    [false, false],
    [true, true],
  ]);
  const answer = await app.send('/admin/mails?state=failed', { cookie: admin.cookie, form });
  expect([answer.status, answer.headers.get('location')]).toEqual([
    303,
    '/admin/mails?state=failed&saved=give-up',
  ]);
  const given = await app.send('/admin/mails?state=given_up&saved=give-up', { cookie: admin.cookie });
  expect(textOf(given)).toContain('The mail is given up.');
  expect(textOf(given)).toContain('by an administrator or operator: the audit says why.');
  expect((await app.send('/admin/mails?state=sent', { cookie: admin.cookie })).status).toBe(422);
});

it('the commands do the same', busy, async () => {
  const id = await addMail();
  const cli = async (...args: string[]) => {
    const { code, out } = await runCli(app.databaseUrl, args);
    return [code, out.trim()];
  };
  expect(await cli('mail:give-up', id, '--why', 'It bounces', '--by', 'Ola', '--json')).toEqual([
    0,
    JSON.stringify({ done: true, intent: 'give-up', id }),
  ]);
  expect(await cli('mail:give-up', id)).toEqual([0, 'It had been given up already.']);
  expect(await cli('mail:retry', id)).toEqual([0, 'It will be sent again.']);
  const kept = await addMail({ kind: 'bank_details_changed' });
  expect((await cli('mail:give-up', kept))[0]).toBe(1);
  expect((await cli('mail:retry', 'x'))[0]).toBe(2);
  expect(await events('staff.give_up_mail')).toContainEqual(
    expect.objectContaining({
      why: 'It bounces',
      details: expect.objectContaining({ mail: id, operator: 'Ola' }),
    }),
  );
});
