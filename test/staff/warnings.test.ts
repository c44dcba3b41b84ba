// Which acts send warnings to every other administrator (contract 12.163 and 12.164).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import {
  addPerson,
  addStaff,
  askFor,
  call,
  formsOf,
  type Person,
  type Role,
  readOutcome,
  why,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

type Staff = Person & { cookie: string };

let [actor, one, two] = [] as unknown as [Staff, Staff, Staff];
beforeEach(async () => {
  await sql`update users set role = 'user' where role <> 'user'`.execute(app.db);
  await sql`delete from mails`.execute(app.db);
  [actor, one, two] = [await addStaff(app), await addStaff(app), await addStaff(app)];
});

const warningsOf = async (kind: string) =>
  (
    await sql<{ to: string; details: Record<string, string> }>`
      select user_id as "to", details - 'at' as details from mails where kind = ${kind} order by user_id`.execute(
      app.db,
    )
  ).rows;

const toBoth = (details: Record<string, string>) => [one, two].map(({ id }) => ({ to: id, details }));

const setRole = async (staff: Staff, target: Person, role: Role) =>
  readOutcome(
    await call(app, 'people.setRole', staff.cookie, {
      ...(await askFor(app, 'people.setRole', target)),
      role,
    }),
  );

describe('a role of staff that is given', () => {
  it.each<Role>(['manager', 'admin'])('as %s by a program tells each other administrator', async (role) => {
    const target = await addPerson(app);
    expect(await setRole(actor, target, role)).toBe('200');
    expect(await warningsOf('role_granted')).toEqual(
      toBoth({ who: target.id, by: actor.id, was: 'user', role }),
    );
  });

  it('on the page tells them, too', async () => {
    const target = await addPerson(app);
    const page = await app.send(`/admin/people/${target.id}`, { cookie: actor.cookie });
    const form = { ...formsOf(page).get('change-role'), why, role: 'admin' };
    const posted = await app.send(`/admin/people/${target.id}`, { cookie: actor.cookie, form });
    expect(posted.status).toBe(303);
    expect(await warningsOf('role_granted')).toEqual(
      toBoth({ who: target.id, by: actor.id, was: 'user', role: 'admin' }),
    );
  });

  it('by a command tells every administrator, for somebody who is there and for somebody new', async () => {
    const target = await addPerson(app);
    const all = [actor, one, two].map(({ id }) => id);
    const byCommand = async (args: string[], input?: string) => {
      await sql`delete from mails`.execute(app.db);
      const { code, err } = await runCli(app.databaseUrl, args, input);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      return warningsOf('role_granted');
    };
    const given = await byCommand(['user:role', target.email, 'manager', '--why', 'For a test']);
    const details = { who: target.id, by: 'command', was: 'user', role: 'manager' };
    expect(given).toEqual(all.map((to) => ({ to, details })));
    const create = (email: string, role: string) =>
      byCommand(['user:create', '--email', email, '--name', 'New', '--role', role], 'seven quiet lanterns');
    const created = await create('new-admin@example.com', 'admin');
    expect(created.map(({ to }) => to)).toEqual(all);
    expect(created[0]?.details).toMatchObject({ by: 'command', role: 'admin' });
    expect(await create('new-user@example.com', 'user')).toEqual([]);
  });

  it('tells nobody if it is taken away, or was there before', async () => {
    const target = await addPerson(app, { role: 'manager' });
    expect(await setRole(actor, target, 'manager')).toBe('200');
    expect(await setRole(actor, target, 'user')).toBe('200');
    expect(await warningsOf('role_granted')).toEqual([]);
  });

  it('tells neither administrators who cannot log in nor anybody else', async () => {
    await sql`update users set suspended_at = now() where id = ${two.id}`.execute(app.db);
    await addStaff(app, 'manager');
    expect(await setRole(actor, await addPerson(app), 'admin')).toBe('200');
    expect((await warningsOf('role_granted')).map(({ to }) => to)).toEqual([one.id]);
  });

  it('tells them, however many notices their mailboxes had before', async () => {
    for (let times = 0; times < 25; times++)
      expect(await setRole(actor, await addPerson(app), 'manager')).toBe('200');
    expect(await warningsOf('role_granted')).toHaveLength(50);
  });
});
