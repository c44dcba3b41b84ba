// The audit as its page shows it (contract 12.36 and 12.250 to 12.252).
import { sql } from 'kysely';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type Answer, openApp } from '../support/app/app.ts';
import { fieldOf, textOf } from '../support/app/visitor.ts';
import { addPerson, addStaff, call, type Person, readData } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

let admin: Person & { cookie: string };
let manager: Person & { cookie: string };
const people: Record<string, Person> = {};

beforeAll(async () => {
  admin = await addStaff(app);
  manager = await addStaff(app, 'manager');
  await sql`update users set name = 'Ulrike Boss' where id = ${admin.id}`.execute(app.db);
  for (const name of ['Quentin Long', 'Quentin Longer', 'Rosa Short', 'Ulrike Customer'])
    people[name] = await addPerson(app, { name });
  // Words are indexed within seconds.
  await vi.waitFor(async () => expect(await find('quentin')).toBe(2), 5_000);
  await vi.waitFor(async () => expect(await find('ulrike')).toBe(2), 5_000);
});
beforeEach(() => sql`truncate audit_events, rate_limits`.execute(app.db));

const idOf = (name: string) => people[name]?.id ?? '';
const find = async (q: string) =>
  readData(await call(app, 'people.find', admin.cookie, { q }, true)).people.length;

/** Adds events, the newest first, each a minute older than the one before. */
async function addEvents(
  events: {
    type: string;
    reason?: string;
    userId?: string;
    actorId?: string;
    address?: string;
    id?: string;
  }[],
) {
  const now = Date.now();
  for (const [at, { type, reason, userId, actorId, address, id }] of events.entries())
    await sql`insert into audit_events (id, at, type, reason, user_id, actor_id, address, details)
      values (gen_random_uuid(), ${new Date(now - (at + 1) * 60_000)}, ${type}, ${reason ?? null}, ${userId ?? null},
        ${actorId ?? null}, ${address ?? null}, ${JSON.stringify(id === undefined ? {} : { id })})`.execute(
      app.db,
    );
}

const open = (query: Record<string, string> = {}, { cookie } = admin) =>
  app.send(`/admin/audit?${new URLSearchParams(query)}`, { cookie, headers: { accept: 'text/html' } });
const linesOf = ({ text }: Answer) => [...text.matchAll(/<li data-event="([^"]+)"/g)].map(([, type]) => type);
const refusal = (name: string, more: { reason?: string; address?: string } = {}) => ({
  ...{ type: 'login.refused', reason: 'wrong_password', userId: idOf(name) },
  ...more,
});

it('finds the person by a name, an address or an id, and names them (contract 12.250)', async () => {
  await addEvents([refusal('Rosa Short'), refusal('Quentin Long')]);
  const { id, email } = people['Rosa Short'] as Person;
  for (const person of ['rosa sh', email, ` ${email.toUpperCase()} `, id]) {
    const page = await open({ person });
    expect([person, linesOf(page)]).toEqual([person, ['login.refused']]);
    expect(textOf(page)).toContain('About Rosa Short');
    expect(fieldOf(page, 'person').value).toBe(person.trim());
  }
  // The pages and the choices keep the id, so that a second person of that name changes nothing.
  await addEvents(Array.from({ length: 52 }, (_, at) => refusal('Rosa Short', { reason: `no ${at}` })));
  expect((await open({ person: 'rosa' })).text).toContain(`href="/admin/audit?person=${id}&amp;before=`);
});

it('lists the people to choose from if several fit, and shows no event until one is chosen', async () => {
  await addEvents([
    refusal('Quentin Long'),
    { type: 'staff.suspend', actorId: admin.id, userId: idOf('Quentin Long') },
  ]);
  const page = await open({ person: 'quentin', staff: admin.id, kind: 'staff.suspend' });
  expect(textOf(page)).toContain('2 people fit. Choose one.');
  expect(linesOf(page)).toEqual([]);
  for (const name of ['Quentin Long', 'Quentin Longer'])
    expect(page.text).toContain(
      `href="/admin/audit?kind=staff.suspend&amp;person=${idOf(name)}&amp;staff=${admin.id}"`,
    );
  // A choice keeps what was typed in the other field.
  const both = await open({ person: 'quentin', staff: 'nobody' });
  expect(both.text).toContain(`href="/admin/audit?person=${idOf('Quentin Long')}&amp;staff=nobody"`);
  const chosen = await open({ kind: 'staff.suspend', person: idOf('Quentin Long'), staff: admin.id });
  expect(linesOf(chosen)).toEqual(['staff.suspend']);
});

it.each([
  ['person', 'nobody-has-this', 'Nobody was found.'],
  ['staff', 'quentin', 'Nobody of the staff was found.'],
  ['person', 'x'.repeat(201), 'Search for no more than 200 characters.'],
  ['person', '\u0000', 'Nobody was found.'],
])('says so at the field if nobody has what was typed as %s: %j', async (name, typed, words) => {
  await addEvents([refusal('Rosa Short')]);
  const page = await open({ [name]: typed });
  expect([page.status, linesOf(page)]).toEqual([200, []]);
  expect(textOf(page)).toContain(words);
});

it('finds only staff as the member of the staff', async () => {
  await addEvents([{ type: 'staff.suspend', actorId: admin.id, userId: idOf('Rosa Short') }]);
  for (const who of [admin, manager]) {
    const page = await open({ staff: 'ulrike' }, who);
    expect([linesOf(page), textOf(page).includes('By Ulrike Boss')]).toEqual([['staff.suspend'], true]);
  }
});

it('finds a former member of the staff by their id or whole address, also if its form is sent again (contract 12.250)', async () => {
  const former = await addStaff(app, 'manager');
  await addEvents([former, admin].map(({ id: actorId }) => ({ type: 'staff.suspend', actorId })));
  await sql`update users set role = 'user' where id = ${former.id}`.execute(app.db);
  for (const staff of [former.id, former.email]) {
    const page = await open({ staff });
    const again = await open({ staff: fieldOf(page, 'staff').value ?? '' });
    for (const { text } of [page, again])
      expect([
        staff,
        text.match(/<li data-event="staff.suspend"/g)?.length,
        text.includes(former.id),
      ]).toEqual([staff, 1, true]);
  }
  expect(textOf(await open({ staff: former.email.slice(0, -1) }))).toContain(
    'Nobody of the staff was found.',
  );
});

it('counts a lookup by name as a search (contract 12.34)', async () => {
  await open({ person: 'quentin' });
  const { rows } = await sql<{ hits: number }>`
    select (details ->> 'hits')::int as hits from audit_events where type = 'staff.searched'`.execute(app.db);
  expect(rows).toEqual([{ hits: 2 }]);
});

it('shows looks and searches only to who asks for them (contract 12.251)', async () => {
  const look = { type: 'staff.looked', actorId: admin.id, userId: idOf('Rosa Short') };
  await addEvents([look, refusal('Rosa Short'), look, { type: 'staff.searched', actorId: admin.id }]);
  expect(linesOf(await open())).toEqual(['login.refused']);
  expect(linesOf(await open({ looks: 'no' }))).toEqual(['login.refused']);
  expect(linesOf(await open({ kind: 'staff.looked' }))).toEqual(['staff.looked', 'staff.looked']);
  const all = ['staff.looked', 'login.refused', 'staff.looked', 'staff.searched'];
  expect(linesOf(await open({ looks: 'yes' })).slice(-4)).toEqual(all);
  // A manager sees which staff viewed customers, and no searches.
  expect(linesOf(await open({ looks: 'yes' }, manager))).toEqual(all.slice(0, 3));
  const { events } = readData(await call(app, 'audit.list', admin.cookie, {}, true));
  expect(events.map(({ type }: { type: string }) => type).slice(-4)).toEqual(all);
});

it('fills a page with fifty lines, however many looks are between (contract 12.251)', async () => {
  const look = { type: 'staff.looked', actorId: admin.id, userId: idOf('Rosa Short') };
  await addEvents(
    Array.from({ length: 60 }, (_, at) => [look, refusal('Rosa Short', { reason: `no ${at}` })]).flat(),
  );
  const first = await open();
  expect(linesOf(first)).toHaveLength(50);
  const [, before = ''] = /\/admin\/audit\?before=([^"]+)"/.exec(first.text) ?? [];
  const second = await open({ before });
  expect(linesOf(second)).toHaveLength(10);
  expect(second.text).not.toContain('?before=');
});

it('has one line for equal refusals in a row (contract 12.252)', async () => {
  const ten = Array.from({ length: 10 }, (_, at) =>
    refusal('Rosa Short', { address: `198.51.100.${at % 2}` }),
  );
  await addEvents([
    ...ten,
    refusal('Rosa Short', { reason: 'wrong_code' }),
    refusal('Quentin Long'),
    ...ten.slice(0, 2),
    { type: 'hand_off.refused', reason: 'email_in_use', id: 'one' },
    { type: 'hand_off.refused', reason: 'email_in_use', id: 'two' },
    // These events are no refusals.
    ...Array.from({ length: 2 }, () => ({ type: 'login', userId: idOf('Rosa Short') })),
  ]);
  const page = await open();
  expect(linesOf(page)).toEqual([
    ...Array(4).fill('login.refused'),
    ...Array(2).fill('hand_off.refused'),
    ...Array(2).fill('login'),
  ]);
  expect([...page.text.matchAll(/(\d+) times/g)].map(([, times]) => times)).toEqual(['10', '2']);
  // Each time and IP address is below the line.
  const [, line = ''] = /<li data-event="login.refused">(.*?)<\/li>/s.exec(page.text) ?? [];
  expect([line.match(/<time/g)?.length, line.match(/198\.51\.100\.1/g)?.length]).toEqual([12, 5]);
  const { text } = await open({}, manager);
  expect([text.includes('10 times'), text.includes('198.51.100')]).toEqual([true, false]);
  const { events } = readData(await call(app, 'audit.list', admin.cookie, {}, true));
  expect(events.filter(({ type }: { type: string }) => type === 'login.refused')).toHaveLength(14);
});

it('goes on after the last event of a line, so that a page leaves nothing out (contract 12.252)', async () => {
  const { id: userId } = people['Rosa Short'] as Person;
  await sql`insert into audit_events (id, at, type, reason, user_id, details)
    select gen_random_uuid(), now() - n * interval '1 second', 'login.refused', case when n > 1020 then 'wrong_code' else 'x' end,
      ${userId}, '{}' from generate_series(1, 1030) n`.execute(app.db);
  const first = await open();
  expect([linesOf(first), first.text.includes('1000 times')]).toEqual([['login.refused'], true]);
  // The page has only the newest fifty of the events that the line counts.
  expect(first.text.match(/<p class="hint"><time/g)).toHaveLength(50);
  expect(first.text.length).toBeLessThan(60_000);
  const [, before = ''] = /\/admin\/audit\?before=([^"]+)"/.exec(first.text) ?? [];
  const second = await open({ before });
  expect([...second.text.matchAll(/(\d+) times/g)].map(([, times]) => times)).toEqual(['20', '10']);
  expect(second.text).not.toContain('?before=');
});

it('finds what was done to a client in the database by its name, and a manager finds none of it (contract 13.106)', async () => {
  const given = { callback: 'http://localhost:4000/cb', why: 'The shop asked for it.' };
  const names = ['audited_shop', 'audited_kiosk'];
  for (const client of names) {
    await call(app, 'clients.add', admin.cookie, { client, ...given });
    const listed = readData(await call(app, 'clients.list', admin.cookie, undefined, true));
    const { seen } = listed.find(({ name }: { name: string }) => name === client).row;
    await call(app, 'clients.turnOff', admin.cookie, { client, why: given.why, seen });
  }
  // An operator's event names no member of staff.
  await sql`insert into audit_events (id, type, details)
    values (gen_random_uuid(), 'staff.rotate_client', '{"by":"cli","client":"audited_shop"}')`.execute(
    app.db,
  );
  await addEvents([{ type: 'hand_off.accepted' }]);
  const find = async (client: string, { cookie } = admin) =>
    readData(await call(app, 'audit.list', cookie, { client }, true)).events.map(
      ({ type, details }: { type: string; details: { client?: string } }) => [type, details.client],
    );
  const done = ['staff.rotate_client', 'staff.turn_client_off', 'staff.add_client'];
  expect(await find('audited_shop')).toEqual(done.map((type) => [type, 'audited_shop']));
  expect(await find('audited_kiosk')).toEqual(done.slice(1).map((type) => [type, 'audited_kiosk']));
  expect(linesOf(await open({ client: 'audited_shop' }))).toEqual(done);
  expect(await find('marketplace')).toEqual([['hand_off.accepted', undefined]]);
  expect(await find('nobody_here')).toEqual([]);
  expect(await find('audited_shop', manager)).toEqual([]);
  const all = readData(await call(app, 'audit.list', manager.cookie, {}, true)).events;
  expect(JSON.stringify(all)).not.toContain('audited_shop');
});
