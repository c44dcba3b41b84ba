// Notes of staff on people (contract 12.233 to 12.237).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { locationOf, openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { openBrowser, textOf } from '../support/app/visitor.ts';
import {
  addPerson,
  addSession,
  addStaff,
  call,
  formsOf,
  readData,
  readOutcome,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
beforeEach(() => sql`delete from rate_limits`.execute(app.db));
const html = { accept: 'text/html' };

type Member = { cookie: string };
type Read = { text: string; authorId: string | null; id: string };

const openPage = ({ cookie }: Member, id: string) =>
  app.send(`/admin/people/${id}`, { cookie, headers: html });
const post = ({ cookie }: Member, id: string, form: Record<string, string>) =>
  app.send(`/admin/people/${id}`, { cookie, form, headers: html });
/** The page that says why the form was refused. */
async function postRefused({ cookie }: Member, id: string, form: Record<string, string>) {
  const browser = openBrowser(app.send, cookie);
  const { pathname, search } = locationOf(await browser.send(`/admin/people/${id}`, { form, headers: html }));
  return browser.send(pathname + search, { headers: html });
}
const get = async ({ cookie }: Member, id: string) =>
  readData(await call(app, 'people.get', cookie, { id }, true)) as {
    notes: Read[];
    seen: Record<string, string>;
  };
const add = async (by: Member, id: string, text: string, seen?: string) => {
  const asked = { id, text, seen: seen ?? (await get(by, id)).seen.note ?? '' };
  return call(app, 'people.addNote', by.cookie, asked);
};
const readNotes = async (id: string) =>
  (
    await sql<{ text: string; author_id: string | null }>`select text, author_id from staff_notes
      where user_id = ${id} order by at, id`.execute(app.db)
  ).rows;
const countMails = async (id: string) =>
  (await sql`select from mails where user_id = ${id}`.execute(app.db)).rows.length;

describe('a note', () => {
  it('is left by its form, which says who can read it, and is shown with author and day (contract 12.233 and 12.236)', async () => {
    const [manager, { id }] = [await addStaff(app, 'manager'), await addPerson(app)];
    const form = formsOf(await openPage(manager, id)).get('note') ?? {};
    expect(textOf(await openPage(manager, id))).toContain(
      'The person can read this note in the download of their data, without your name.',
    );
    const done = await post(manager, id, { ...form, text: '  Prefers <b>French</b> 🇫🇷 ' });
    expect(done.headers.get('location')).toBe(`/admin/people/${id}?saved=note`);
    const page = await openPage(manager, id);
    expect(page.text).toContain('Prefers &lt;b&gt;French&lt;/b&gt; 🇫🇷');
    expect(textOf(page)).toMatch(/🇫🇷 Test Person · \d+ \w+ \d{4}/);
    expect(await readNotes(id)).toEqual([{ text: 'Prefers <b>French</b> 🇫🇷', author_id: manager.id }]);
    expect(await countMails(id)).toBe(0);
    const { rows } = await sql`select actor_id, why, details from audit_events
      where type = 'staff.note' and user_id = ${id}`.execute(app.db);
    expect(rows).toEqual([{ actor_id: manager.id, why: null, details: { by: 'staff' } }]);
  });

  it('is the newest first, three of them open', async () => {
    const [admin, { id }] = [await addStaff(app), await addPerson(app)];
    for (const text of ['First', 'Second', 'Third', 'Fourth'])
      expect(readOutcome(await add(admin, id, text))).toBe('200');
    const { notes } = await get(admin, id);
    expect(notes.map(({ text }) => text)).toEqual(['Fourth', 'Third', 'Second', 'First']);
    expect((await openPage(admin, id)).text).toMatch(
      /Second<(?:(?!>First<).)*<details class="others">.*>First</s,
    );
  });

  const wrong: [what: string, text: string][] = [
    ['nothing', ''],
    ['spaces', ' \u3000\u200b '],
    ['501 characters', 'x'.repeat(501)],
    ['501 code points', '😀'.repeat(501)],
    ['so many spaces that its end is cut', `a${' '.repeat(1_200)}b`],
    ['two lines', 'one\ntwo'],
    ['a control character', 'a\u0007b'],
    ['null', 'a\u0000b'],
    ['an override', 'a\u202eb'],
    ['a line separator', 'a\u2028b'],
  ];
  it.each(wrong)('of %s is 422, and nothing is kept', async (_, text) => {
    const [admin, { id }] = [await addStaff(app), await addPerson(app)];
    expect(readOutcome(await add(admin, id, text))).toBe('422 validation_failed');
    expect(await readNotes(id)).toEqual([]);
  });

  it.each(['x', 'x'.repeat(500), '😀'.repeat(500)])('of 1 to 500 code points is kept: %.3s', async (text) => {
    const [admin, { id }] = [await addStaff(app), await addPerson(app)];
    expect(readOutcome(await add(admin, id, text))).toBe('200');
    expect((await readNotes(id)).map((note) => note.text)).toEqual([text]);
  });

  it('that is refused stays in its form', async () => {
    const [admin, { id }] = [await addStaff(app), await addPerson(app)];
    const form = formsOf(await openPage(admin, id)).get('note') ?? {};
    const text = `${'x'.repeat(500)}"`;
    const page = await postRefused(admin, id, { ...form, text });
    expect([page.status, textOf(page).includes('Write 1 to 500 characters.')]).toEqual([422, true]);
    expect(page.text).toContain(`value="${'x'.repeat(500)}&quot;"`);
  });

  it.each([
    ['is refused', 409, 0],
    ['waited for a credential until a new login', 200, 11],
  ])('that %s stays in its form, however many bytes it has (contract 9.173)', async (_, status, minutes) => {
    const authTime = new Date(Date.now() - minutes * 60_000);
    const [staff, { id }] = [await addStaff(app, 'admin', { authTime }), await addPerson(app)];
    const browser = openBrowser(app.send, staff.cookie);
    const form = { intent: 'note', text: '語'.repeat(400), seen: 'x' };
    const path = `/admin/people/${id}`;
    const { pathname, search } = locationOf(await browser.send(path, { form, headers: html }));
    const [name = '', token = ''] = (await addSession(app, staff.id)).cookie.split('=');
    browser.jar.set(name, token);
    const shown = await browser.send(pathname + search, { headers: html });
    expect([shown.status, shown.text.includes(`value="${form.text}"`)]).toEqual([status, true]);
    // This form is too long to be kept, so the answer to the post contains it.
    const long = { ...form, text: '\u0001'.repeat(1_000) };
    expect((await browser.send(path, { form: long, headers: html })).status).toBe(422);
  });

  it('needs a credential of the last ten minutes', async () => {
    const [staff, { id }] = [await addStaff(app), await addPerson(app)];
    const { cookie } = await addSession(app, staff.id, { authTime: new Date(Date.now() - 11 * 60_000) });
    expect(readOutcome(await add({ cookie }, id, 'x'))).toBe('401 login_required');
    expect(await readNotes(id)).toEqual([]);
  });

  it('is kept once if 16 send the same form at once, and if 16 each send their own, one is', async () => {
    const [admin, { id }] = [await addStaff(app), await addPerson(app)];
    const { seen } = await get(admin, id);
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => add(admin, id, at % 2 ? 'the same' : `own ${at}`, seen.note)),
    );
    const outcomes = answers.map(readOutcome).sort();
    expect(outcomes).toEqual(['200', ...Array(15).fill('409 edited_meanwhile')]);
    expect(await readNotes(id)).toHaveLength(1);
  });
});

describe('staff who may not', () => {
  it('are managers about staff, in their own account and about themselves, by forged form and by program', async () => {
    const manager = await addStaff(app, 'manager');
    const admin = await addStaff(app);
    const own = await addPerson(app, { accountId: manager.accountId });
    for (const id of [admin.id, own.id, manager.id]) {
      const shown = await postRefused(manager, id, { intent: 'note', text: 'x', seen: 'x' });
      expect(shown.status).toBe(403);
      expect(readOutcome(await add(manager, id, 'x', 'x'))).toBe('403 not_allowed');
      expect(await readNotes(id)).toEqual([]);
    }
    expect(readOutcome(await add(admin, manager.id, 'x'))).toBe('200');
    // A manager reads no notes on staff (contract 12.9).
    expect(JSON.stringify(await get(manager, admin.id))).not.toContain('notes');
  });

  it('are people without a role, to whom it is not there', async () => {
    const { id } = await addPerson(app);
    const session = await addSession(app, (await addPerson(app)).id);
    expect((await post(session, id, { intent: 'note', text: 'x', seen: 'x' })).status).toBe(404);
    expect(readOutcome(await add(session, id, 'x', 'x'))).toBe('404 not_found');
  });
});

it('each author leaves 60 an hour, and a person has 100 (contract 12.234)', async () => {
  const [one, other, operator] = [await addStaff(app), await addStaff(app), await addPerson(app)];
  const { id } = await addPerson(app);
  for (let n = 0; n < 60; n++) expect(readOutcome(await add(one, id, `${n}`))).toBe('200');
  const full = await add(one, id, 'one too many');
  expect([readOutcome(full), full.headers.has('retry-after')]).toEqual(['429 rate_limited', true]);
  for (let n = 60; n < 100; n++) expect(readOutcome(await add(other, id, `${n}`))).toBe('200');
  const { status, text } = await add(other, id, '101');
  expect([status, text.includes('There are 100 notes on this person already.')]).toEqual([422, true]);
  expect(await readNotes(id)).toHaveLength(100);
  expect(readOutcome(await add(other, operator.id, 'somebody else'))).toBe('200');
});

describe('a note is kept', () => {
  it('without its author once they are erased, and goes with its person (contract 12.235)', async () => {
    const [author, admin, { id }] = [await addStaff(app), await addStaff(app), await addPerson(app)];
    await add(author, id, 'Prefers French');
    const erase = (who: string) =>
      runCli(app.databaseUrl, ['user:delete', who, '--now', '--yes', '--why', 'They asked']);
    expect((await erase(author.id)).code).toBe(0);
    expect(await readNotes(id)).toEqual([{ text: 'Prefers French', author_id: null }]);
    expect(textOf(await openPage(admin, id))).toContain('An operator, or somebody who has left');
    expect((await erase(id)).code).toBe(0);
    expect(await readNotes(id)).toEqual([]);
  });

  it('in the download of the person, with text and time alone, and told nowhere else (contract 12.236)', async () => {
    const [author, { id }] = [await addStaff(app), await addPerson(app)];
    await add(author, id, 'Prefers French');
    const { cookie } = await addSession(app, id);
    const { text } = await app.send('/profile/data.json', { cookie });
    expect(JSON.parse(text).notes).toEqual([{ text: 'Prefers French', at: expect.any(String) }]);
    expect(text).not.toContain(author.id);
    expect((await app.send('/profile/activity', { cookie, headers: html })).text).not.toMatch(/note|French/);
    const other = await addSession(app, (await addPerson(app)).id);
    expect(JSON.parse((await app.send('/profile/data.json', other)).text).notes).toEqual([]);
  });

  it('also by command, which is audited, and which user:show prints', async () => {
    const { id, email } = await addPerson(app);
    const run = (...args: string[]) => runCli(app.databaseUrl, args);
    const { code, out } = await run('user:note', email, 'Prefers French', '--by', 'Olga', '--json');
    expect([code, JSON.parse(out)]).toEqual([0, { done: true, intent: 'note', id }]);
    expect(await readNotes(id)).toEqual([{ text: 'Prefers French', author_id: null }]);
    expect((await run('user:show', email)).out).toMatch(/notes:\n.*text Prefers French/);
    expect((await run('user:note', email, '')).code).toBe(2);
    expect((await run('user:note', email, 'x', '--why', 'none')).code).toBe(2);
    const { rows } = await sql`select why, details from audit_events
      where type = 'staff.note' and user_id = ${id}`.execute(app.db);
    expect(rows).toMatchObject([{ why: null, details: { by: 'cli', operator: 'Olga' } }]);
  });
});

it('administrators alone delete a note, with a reason, and only of its person (contract 12.237)', async () => {
  const [admin, manager] = [await addStaff(app), await addStaff(app, 'manager')];
  const [{ id }, other] = [await addPerson(app), await addPerson(app)];
  await add(manager, id, 'Prefers French');
  await add(manager, other.id, 'Prefers Dutch');
  expect(formsOf(await openPage(manager, id)).has('note')).toBe(true);
  expect((await openPage(manager, id)).text).not.toContain('data-intent="delete-note"');
  const { notes, seen } = await get(admin, id);
  const note = notes[0]?.id ?? '';
  const asked = { id, note, why: 'A mistake', seen: seen['delete-note'] };
  const remove = (by: Member, more: object = {}) =>
    call(app, 'people.deleteNote', by.cookie, { ...asked, ...more });
  expect(readOutcome(await remove(manager))).toBe('403 not_allowed');
  expect(readOutcome(await remove(admin, { why: 'x' }))).toBe('422 validation_failed');
  expect(readOutcome(await remove(admin, { note: 'x' }))).toBe('422 validation_failed');
  const { seen: seenOther } = await get(admin, other.id);
  expect(readData(await remove(admin, { id: other.id, seen: seenOther['delete-note'] }))).toBe('nothing');
  const form = formsOf(await openPage(admin, id)).get(`delete-note ${note}`);
  const done = await post(admin, id, { ...form, why: 'A mistake' });
  expect(done.headers.get('location')).toBe(`/admin/people/${id}?saved=delete-note`);
  expect([await readNotes(id), (await readNotes(other.id)).length]).toEqual([[], 1]);
  const { rows } = await sql`select why, details from audit_events
    where type = 'staff.delete_note' and user_id = ${id}`.execute(app.db);
  expect(rows).toEqual([{ why: 'A mistake', details: { by: 'staff' } }]);
});
