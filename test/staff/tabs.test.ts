// The tabs of a person's page: each has its own URL, and all have one head (contract 12.230 and 12.231).
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { openBrowser, textOf } from '../support/app/visitor.ts';
import { addFactor, addPerson, addSession, addStaff, formsOf, why } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const html = { accept: 'text/html' };
const tabs: [path: string, title: string, heading: string][] = [
  ['', 'Login', 'Logging in'],
  ['/billing', 'Billing', 'Billing details'],
  ['/rights', 'Rights', 'What the account may do'],
  ['/activity', 'Activity', 'What happened'],
  ['/mails', 'Mails', 'Mails'],
  ['/products', 'Products', 'What products would get'],
];

const open = (path: string, cookie: string) => app.send(path, { cookie, headers: html });
async function send(path: string, cookie: string, form: Record<string, string>): Promise<Answer> {
  const browser = openBrowser(app.send, cookie);
  const answer = await browser.send(path, { form, headers: html });
  if (answer.status !== 303) return answer;
  const { pathname, search } = locationOf(answer);
  return browser.send(pathname + search, { headers: html });
}

it('each has its address, title and part, with the same head, and all are one look (contract 12.35)', async () => {
  const [{ cookie, id: staff }, { id }] = [await addStaff(app, 'manager'), await addPerson(app)];
  const heads = new Set<string>();
  for (const [path, title, heading] of tabs) {
    const page = await open(`/admin/people/${id}${path}`, cookie);
    expect([path, page.status]).toEqual([path, 200]);
    expect(page.text).toContain(`<title>${title}: Test Person · Identity</title>`);
    expect(page.text.match(/<h2 id="[^"]+">/g)?.length).toBeLessThan(5);
    for (const [, , other] of tabs) expect(page.text.includes(`>${other}</h2>`)).toBe(other === heading);
    expect(page.text).toContain(`<a href="/admin/people/${id}${path}" aria-current="page">${title}</a>`);
    expect([...formsOf(page).keys()]).toEqual(expect.arrayContaining(['send-mail set-password', 'suspend']));
    heads.add(/<h1>.*?<\/nav>/s.exec(page.text)?.[0].replace(' aria-current="page"', '') ?? '');
  }
  expect(heads.size).toBe(1);
  const { rows } = await sql`select from audit_events where type = 'staff.looked'
    and actor_id = ${staff} and user_id = ${id}`.execute(app.db);
  expect(rows).toHaveLength(1);
});

it('another is 404, also to a form', async () => {
  const [{ cookie }, { id }] = [await addStaff(app), await addPerson(app)];
  for (const tab of ['login', 'Rights', 'constructor', '%00', 'x'.repeat(500), 'rights/x']) {
    const path = `/admin/people/${id}/${tab}`;
    expect([tab, (await open(path, cookie)).status]).toEqual([tab, 404]);
    const form = { ...formsOf(await open(`/admin/people/${id}`, cookie)).get('suspend'), why };
    expect([tab, (await app.send(path, { cookie, form, headers: html })).status]).toEqual([tab, 404]);
  }
  const { rows } = await sql`select from users where id = ${id} and suspended_at is null`.execute(app.db);
  expect(rows).toHaveLength(1);
});

it('another leads a form to the login, as the others do (contract 12.3, 12.6 and 12.14)', async () => {
  const [{ id }, staff] = [await addPerson(app), await addStaff(app)];
  const { cookie } = await addSession(app, staff.id, { authTime: new Date(Date.now() - 13 * 60 * 60_000) });
  const form = { intent: 'suspend', why, seen: 'x' };
  for (const sender of ['', cookie]) {
    const [other, known] = await Promise.all(
      ['nope', 'rights'].map((tab) =>
        app.send(`/admin/people/${id}/${tab}`, { cookie: sender, form, headers: html }),
      ),
    );
    expect([other?.status, other?.headers.get('location')]).toEqual([
      303,
      known?.headers.get('location')?.replace('rights', 'nope'),
    ]);
  }
});

it('shows a manager no more of staff than the first', async () => {
  const [{ cookie }, { id }] = [await addStaff(app, 'manager'), await addStaff(app)];
  for (const [path] of tabs) {
    const page = await open(`/admin/people/${id}${path}`, cookie);
    expect(textOf(page)).toContain('Only administrators see more of them.');
    expect(page.text).not.toContain('<h2');
    expect(formsOf(page).size).toBe(0);
  }
});

it('a form leads back to its tab, done or refused', async () => {
  const [{ cookie }, { id }] = [await addStaff(app), await addPerson(app)];
  const path = `/admin/people/${id}/activity`;
  const form = formsOf(await open(path, cookie)).get('suspend') ?? {};
  const refused = await send(path, cookie, { ...form, why: 'x"' });
  expect([refused.status, textOf(refused).includes('Say why in 3 to 500 characters.')]).toEqual([422, true]);
  // The form is among the other forms of the head, and both are open.
  expect(refused.text).toMatch(
    /<details class="disclosure" open=""><summary[^>]*><span aria-hidden="true">…/,
  );
  expect(refused.text).toContain('value="x&quot;"');
  const done = await app.send(path, { cookie, form: { ...form, why }, headers: html });
  expect(done.headers.get('location')).toBe(`${path}?saved=suspend`);
  const after = await open(`${path}?saved=suspend`, cookie);
  expect(textOf(after)).toContain('The account is suspended. They are logged out everywhere.');
  // The act that ends the state comes first. Acts whose link would be refused are not offered.
  const [head = ''] = /<div class="head-acts.*?<nav/s.exec(after.text) ?? [];
  expect([...head.matchAll(/data-intent="([^"]+)"/g)].map(([, intent]) => intent).slice(0, 2)).toEqual([
    'resume',
    'thaw',
  ]);
  expect(head).not.toContain('send-mail');
});

it('what ends a state comes first, however much does (contract 12.231)', async () => {
  const [{ cookie }, { id }] = [await addStaff(app), await addPerson(app)];
  await sql`update users set suspended_at = now(), deletion_due_at = now() + interval '9 days'
    where id = ${id}`.execute(app.db);
  const { text } = await open(`/admin/people/${id}`, cookie);
  const [bare = ''] =
    /<div class="head-acts.*?(?=<summary class="button quiet"><span aria-hidden)/s.exec(text) ?? [];
  expect([...bare.matchAll(/data-intent="([^"]+)"/g)].map(([, intent]) => intent)).toEqual([
    'resume',
    'thaw',
    'keep',
  ]);
});

it('a refused form that its tab does not show is refused above the others', async () => {
  const [{ cookie }, { id }] = [await addStaff(app), await addPerson(app)];
  const form = { intent: 'change-email', email: 'new@example.com', why, seen: 'x' };
  const answer = await send(`/admin/people/${id}/rights`, cookie, form);
  expect([answer.status, textOf(answer).includes('This has changed since you opened the page')]).toEqual([
    409,
    true,
  ]);
});

it('the page that asks for a credential says what was typed and chosen (contract 12.202)', async () => {
  const [{ cookie }, { id }] = [await addStaff(app), await addPerson(app)];
  await addFactor(app.db, { id });
  const form = formsOf(await open(`/admin/people/${id}`, cookie)).get('change-email yes') ?? {};
  await sql`update sessions set auth_time = now() - interval '11 minutes'`.execute(app.db);
  const given = { email: 'new-one@example.com' };
  const { status, text } = await send(`/admin/people/${id}`, cookie, { ...form, ...given, why });
  const [shown = ''] = /<dl[^>]*data-given.*?<\/dl>/s.exec(text) ?? [];
  expect([status, [...shown.matchAll(/<bdi>([^<]*)<\/bdi>/g)].map(([, value]) => value)]).toEqual([
    401,
    ['new-one@example.com'],
  ]);
  expect(text).toContain('to change the address and remove second factors');
});

it('the page that asks for a credential leads back to the tab', async () => {
  const [{ cookie }, { id }] = [await addStaff(app), await addPerson(app)];
  const path = `/admin/people/${id}/mails`;
  const form = formsOf(await open(path, cookie)).get('suspend') ?? {};
  await sql`update sessions set auth_time = now() - interval '11 minutes'`.execute(app.db);
  const asked = await send(path, cookie, { ...form, why });
  expect([asked.status, asked.text.includes(`<a href="${path}">Cancel</a>`)]).toEqual([401, true]);
});
