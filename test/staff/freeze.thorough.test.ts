// Staff who freeze an account, and give it back to its owner, as docs/operate/support.md tells it (contract 12.171 and 12.173).
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/app/cli.ts';
import { sendPatiently } from '../support/app/patience.ts';
import { dayMs, shareAddressChanges } from '../support/people/address-changes.ts';
import { addPasskey } from '../support/people/authenticator.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import {
  addFactor,
  addPerson,
  addSession,
  call,
  readData,
  readOutcome,
  why,
} from '../support/people/staff.ts';

const changes = shareAddressChanges();

/** An administrator, or a manager, who has just given a second factor. */
async function addStaff(role: 'admin' | 'manager' = 'admin') {
  const person = await addPerson(changes.app, { role });
  await addFactor(changes.app.db, person);
  const at = changes.clock.now;
  const session = await addSession(changes.app, person.id, { authTime: at });
  await sql`update sessions set created_at = ${at}, last_seen_at = ${at} where id = ${session.sessionId}`.execute(
    changes.app.db,
  );
  return { ...person, ...session };
}

type Staff = Awaited<ReturnType<typeof addStaff>>;

const get = async ({ cookie }: Staff, id: string) =>
  readData(await call(changes.app, 'people.get', cookie, { id }, true));

async function act(staff: Staff, name: 'freeze' | 'suspend' | 'thaw', id: string, more: object = {}) {
  const { seen } = await get(staff, id);
  const asked = { id, why, seen: seen[name] ?? 'x', ...more };
  return readOutcome(await call(changes.app, `people.${name}`, staff.cookie, asked));
}

/** A thief has changed somebody's email address twice, and has read and deleted the mails about the changes. */
async function rob() {
  const { email, id, browser, thief } = await changes.rob();
  const [second, present] = [changes.newEmail(), changes.newEmail()];
  const link = await changes.change(thief, email, second);
  const theirs = await changes.change(thief, second, present);
  return { email, id, browser, thief, second, present, link, theirs };
}

const stateOf = async (id: string) =>
  (
    await sql<{ email: string; suspended: boolean; frozen: boolean }>`
      select email, suspended_at is not null as suspended, frozen_at is not null as frozen
      from users where id = ${id}`.execute(changes.app.db)
  ).rows[0];

const noticesTo = async (email: string, kind: string) =>
  (await listNotices(changes.app.db, email)).filter((each) => each === kind).length;

/** The email addresses that have a take-back link of that user. */
const linksOf = async (id: string) =>
  (
    await sql<{ email: string }>`select distinct email from take_back_changes where user_id = ${id}`.execute(
      changes.app.db,
    )
  ).rows.map(({ email }) => email);

async function forget(email: string) {
  const before = await changes.countMails(email);
  await changes.app.send('/forgot-password', { form: { email }, from: changes.from() });
  return (await changes.countMails(email)) - before;
}

describe('an account whose address a thief has changed', () => {
  it('is found by the earlier address, frozen, and given back, and no later address has a link (contract 2.42, 2.59, 2.137, 2.176, 12.30 and 12.55)', async () => {
    const { email, id, thief, second, present, theirs } = await rob();
    const admin = await addStaff();
    const found = await call(changes.app, 'people.find', admin.cookie, { q: email.toUpperCase() }, true);
    expect(readData(found).people).toMatchObject([{ id, email: present }]);
    const byCommand = await runCli(changes.app.databaseUrl, ['find', email, '--json']);
    expect(JSON.parse(byCommand.out)).toMatchObject({ id, email: present });
    expect((await get(admin, id)).mailboxes).toEqual([present, email, second]);
    expect(await act(admin, 'freeze', id)).toBe('200');
    expect(await stateOf(id)).toEqual({ email: present, suspended: true, frozen: true });
    expect(await thief.whoAmI()).toBeUndefined();
    for (const mailbox of [email, second, present])
      expect(await noticesTo(mailbox, 'account_frozen'), mailbox).toBe(1);
    // Support may need long to find out which mailbox is the owner's.
    changes.passTime(40 * dayMs);
    const later = await addStaff();
    expect(await act(later, 'thaw', id, { keep: 'other@example.test' })).toBe('422 validation_failed');
    expect(await act(later, 'thaw', id, { keep: email, removeFactors: 'yes' })).toBe('200');
    expect(await stateOf(id)).toEqual({ email, suspended: false, frozen: false });
    expect(await linksOf(id)).toEqual([]);
    expect((await changes.undo(theirs)).status).toBe(404);
    expect([await forget(second), await forget(present), await forget(email)]).toEqual([0, 0, 1]);
  });

  it('comes back from a suspension in the same way, and the other administrators are told (contract 12.173 and 12.256)', async () => {
    const { email, id, second, present, theirs } = await rob();
    const manager = await addStaff('manager');
    expect(await act(manager, 'suspend', id)).toBe('200');
    expect(await act(manager, 'thaw', id, { keep: email })).toBe('403 not_allowed');
    changes.passTime(40 * dayMs);
    const admin = await addStaff();
    const { email: other } = await addStaff();
    const { seen } = await get(admin, id);
    const asked = { id, why, seen: seen.thaw, keep: email };
    const send = () => call(changes.app, 'people.thaw', admin.cookie, asked);
    const outcomes = (await sendPatiently(Array(16).fill(send))).map(readOutcome);
    expect(outcomes.sort()).toEqual(['200', ...Array(15).fill('409 edited_meanwhile')]);
    expect(await stateOf(id)).toEqual({ email, suspended: false, frozen: false });
    expect(await linksOf(id)).toEqual([]);
    expect((await changes.undo(theirs)).status).toBe(404);
    for (const mailbox of [email, second, present])
      for (const [kind, count] of [
        ['account_frozen', 1],
        ['account_thawed', 1],
        ['account_resumed', 0],
      ] as const)
        expect([mailbox, kind, await noticesTo(mailbox, kind)]).toEqual([mailbox, kind, count]);
    expect(await noticesTo(present, 'email_change_undone')).toBe(1);
    expect([await noticesTo(admin.email, 'person_frozen'), await noticesTo(other, 'person_frozen')]).toEqual([
      0, 1,
    ]);
    const events = await changes.eventsOf(id);
    for (const type of ['account.frozen', 'account.thawed', 'staff.thaw']) expect(events).toContain(type);
  });

  it('comes back from a suspension by command, even if it is the only administrator’s (contract 12.256)', async () => {
    const { email, id } = await rob();
    await sql`update users set role = case when id = ${id} then 'admin' else 'user' end
      where role = 'admin' or id = ${id}`.execute(changes.app.db);
    const run = () =>
      runCli(changes.app.databaseUrl, ['user:thaw', id, '--keep', email, '--why', why, '--yes']);
    expect((await run()).err).toContain('This is the only administrator.');
    await sql`update users set suspended_at = now() where id = ${id}`.execute(changes.app.db);
    expect(await run()).toMatchObject({ code: 0, err: '' });
    expect(await stateOf(id)).toEqual({ email, suspended: false, frozen: false });
    await sql`update users set role = 'user' where id = ${id}`.execute(changes.app.db);
  });

  it('comes back at once, by page or command, and everybody is told of the freeze (contract 12.256)', async () => {
    for (const by of ['page', 'command']) {
      const { email, id, thief, second, present, theirs } = await rob();
      const admin = await addStaff();
      const { email: other } = await addStaff();
      const warned = await noticesTo(other, 'person_frozen');
      // The present email address undoes no change. The email address of somebody else is refused.
      expect(await act(admin, 'thaw', id, { keep: present })).toBe('200');
      expect(await act(admin, 'thaw', id, { keep: 'other@example.test' })).toBe('422 validation_failed');
      expect(await stateOf(id)).toEqual({ email: present, suspended: false, frozen: false });
      expect(await thief.whoAmI()).toBeDefined();
      const { seen } = await get(admin, id);
      if (by === 'page') expect(await act(admin, 'thaw', id, { keep: email })).toBe('200');
      else {
        const args = ['user:thaw', id, '--keep', email, '--why', why];
        const asked = await runCli(changes.app.databaseUrl, args, 'no\n');
        expect(asked.err).toContain('Nothing was done.');
        expect((await runCli(changes.app.databaseUrl, [...args, '--yes'])).out).toContain(
          'has its address of before again',
        );
      }
      expect(await stateOf(id)).toEqual({ email, suspended: false, frozen: false });
      expect(await thief.whoAmI()).toBeUndefined();
      expect((await changes.undo(theirs)).status).toBe(404);
      for (const mailbox of [email, second, present])
        for (const kind of ['account_frozen', 'account_thawed'])
          expect([mailbox, kind, await noticesTo(mailbox, kind)]).toEqual([mailbox, kind, 1]);
      expect(await noticesTo(other, 'person_frozen')).toBe(warned + 1);
      const events = await changes.eventsOf(id);
      for (const type of ['account.frozen', 'account.thawed', 'account.taken_back', 'staff.thaw'])
        expect(events, by).toContain(type);
      // A second press has nothing to give back.
      const again = { id, why, seen: seen.thaw, keep: email };
      expect(readOutcome(await call(changes.app, 'people.thaw', admin.cookie, again))).toBe(
        '409 edited_meanwhile',
      );
    }
  });

  it('is not given back by a form from before a suspension (contract 12.19 and 12.256)', async () => {
    const { email, id } = await rob();
    const admin = await addStaff();
    const { seen } = await get(admin, id);
    expect(await act(admin, 'suspend', id)).toBe('200');
    const late = { id, why, seen: seen.thaw, keep: email };
    expect(readOutcome(await call(changes.app, 'people.thaw', admin.cookie, late))).toBe(
      '409 edited_meanwhile',
    );
  });

  it('keeps the present address where that is the owner’s, and frees the others', async () => {
    const { id, email, present, link } = await rob();
    const admin = await addStaff();
    expect(await act(admin, 'suspend', id)).toBe('200');
    const { email: other } = await addStaff();
    expect(await act(admin, 'thaw', id, { keep: present })).toBe('200');
    expect(await stateOf(id)).toEqual({ email: present, suspended: false, frozen: false });
    expect([await noticesTo(present, 'account_resumed'), await noticesTo(other, 'person_frozen')]).toEqual([
      1, 0,
    ]);
    expect([(await changes.undo(link)).status, await forget(email)]).toEqual([404, 0]);
  });
});

describe('a freeze by an administrator', () => {
  it('is done once of 16 at once, and tells all other administrators (contract 11.49, 12.171 and 12.163)', async () => {
    const { id } = await changes.signUp();
    await sql`update users set role = 'user' where role = 'admin'`.execute(changes.app.db);
    const [admin, other] = [await addStaff(), await addStaff()];
    const { seen } = await get(admin, id);
    const asked = { id, why, seen: seen.freeze };
    const send = () => call(changes.app, 'people.freeze', admin.cookie, asked);
    const outcomes = (await sendPatiently(Array(16).fill(send))).map(readOutcome);
    expect(outcomes.sort()).toEqual(['200', ...Array(15).fill('409 edited_meanwhile')]);
    const events = (await changes.eventsOf(id)).filter((type) => /freeze|frozen/.test(type)).sort();
    expect(events).toEqual(['account.frozen', 'staff.freeze']);
    expect([
      await noticesTo(admin.email, 'person_frozen'),
      await noticesTo(other.email, 'person_frozen'),
    ]).toEqual([0, 1]);
    const { rows } = await sql<{ details: object }>`
      select details - 'at' as details from mails where kind = 'person_frozen' and details ->> 'who' = ${id}`.execute(
      changes.app.db,
    );
    expect(rows).toEqual([{ details: { by: admin.id, who: id } }]);
    // If an operator freezes an account, both administrators are told.
    const { id: next } = await changes.signUp();
    const done = await runCli(changes.app.databaseUrl, ['user:freeze', next, '--why', why]);
    expect([done.code, done.err]).toEqual([0, '']);
    expect([
      await noticesTo(admin.email, 'person_frozen'),
      await noticesTo(other.email, 'person_frozen'),
    ]).toEqual([1, 2]);
  });

  it('needs a reason and another administrator who can log in (contract 12.171)', async () => {
    await sql`update users set role = 'user' where role = 'admin'`.execute(changes.app.db);
    const [admin, last] = [await addStaff(), await addStaff()];
    expect(await act(admin, 'freeze', last.id, { why: '' })).toBe('422 validation_failed');
    await sql`update users set email_verified_at = null where id = ${admin.id}`.execute(changes.app.db);
    expect(await act(admin, 'freeze', last.id)).toBe('409 last_admin');
    const refused = await runCli(changes.app.databaseUrl, ['user:freeze', last.id, '--why', why]);
    expect(refused.code).toBe(1);
    expect((await stateOf(last.id))?.frozen).toBe(false);
  });

  it('may follow a suspension and keeps its time, and then a manager cannot end it (contract 2.59)', async () => {
    const { id, browser } = await changes.signUp();
    await addPasskey(browser);
    const [admin, manager] = [await addStaff(), await addStaff('manager')];
    expect(await act(manager, 'suspend', id)).toBe('200');
    const since = () =>
      sql<{ at: Date }>`select suspended_at as at from users where id = ${id}`.execute(changes.app.db);
    const before = (await since()).rows;
    expect(await act(manager, 'freeze', id)).toBe('403 not_allowed');
    expect(await act(admin, 'freeze', id)).toBe('200');
    expect((await since()).rows).toEqual(before);
    const { seen } = await get(manager, id);
    const asked = { id, why, seen: seen.resume };
    expect(readOutcome(await call(changes.app, 'people.resume', manager.cookie, asked))).toBe(
      '403 account_frozen',
    );
  });
});
