// Staff, or somebody who has stolen their session, try acts that they may not do: in random order, many at the same time, while
// other staff change the same people.
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { eraseDueUsers } from '../../server/identity/person/erase-user.ts';
import { sendDueMails } from '../../server/mail/outbox.ts';
import { openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { logIn, openBrowser } from '../support/app/visitor.ts';
import { byForm } from '../support/faults/faults.ts';
import { buildHandOff, openHandOff } from '../support/marketplace/marketplace.ts';
import {
  actCases,
  addFactor,
  addPerson,
  addSession,
  askFor,
  call,
  digestAll,
  type Person,
  type Role,
  readData,
  readOutcome,
  why,
} from '../support/people/staff.ts';
import { createRandom, seed } from '../support/run/random.ts';
import { shared } from '../support/run/shared.ts';

const password = 'seven quiet lanterns';

let hash: string;
const app = shared(() => openApp({ env: { IDENTITY_ADMIN_SECOND_FACTOR: 'required' } }));
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl }));
beforeAll(async () => {
  hash = await hashPassword(password);
});

type Member = Person & { cookie: string; sessionId: string };

async function addStaff(role: Role): Promise<Member> {
  const person = await addPerson(app, { role, passwordHash: hash });
  await addFactor(app.db, person);
  return { ...person, ...(await addSession(app, person.id)) };
}

const names = Object.keys(actCases);

const act = async ({ cookie }: Pick<Member, 'cookie'>, name: string, target: Person, more = {}) =>
  readOutcome(await call(app, name, cookie, { ...(await askFor(app, name, target)), ...more }));

const random = createRandom(seed);
const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

const runAtOnce = async <T>(times: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, index) => work(index)));

const countEvents = async (type: string, { id }: Pick<Person, 'id'>) =>
  (
    await sql`select from audit_events where type = ${type} and (user_id = ${id} or actor_id = ${id})`.execute(
      app.db,
    )
  ).rows.length;

describe('managers', () => {
  const orders = byForm({ short: 600, long: 2_000 });
  it(`change no staff and become no more than they are, in ${orders} random orders of every procedure, 16 at once`, {
    timeout: 180_000,
  }, async () => {
    const managers = [await addStaff('manager'), await addStaff('manager')];
    const admins = [await addStaff('admin'), await addStaff('admin')];
    const shared = await addPerson(app, { accountId: admins[0]?.accountId ?? '' });
    const own = await addPerson(app, { accountId: managers[0]?.accountId ?? '' });
    const customers = [await addPerson(app), await addPerson(app)];
    const everybody = [...managers, ...admins, shared, own, ...customers];
    const isStaff = sql`role <> 'user'`;
    const read = async () => {
      const parts = [
        sql`select jsonb_agg(to_jsonb(u) order by u.id) from users u where ${isStaff}`,
        sql`select jsonb_agg(to_jsonb(s) - 'last_seen_at' order by s.id) from sessions s
          where user_id in (select id from users where ${isStaff})`,
        sql`select jsonb_agg(to_jsonb(a) order by a.user_id) from authenticators a
          where user_id in (select id from users where ${isStaff})`,
        sql`select jsonb_agg(to_jsonb(a) order by a.id) from accounts a
          where id in (select account_id from users where ${isStaff})`,
        sql`select count(*) from mails where user_id in (select id from users where ${isStaff})`,
        sql`select count(*) from audit_events where type like 'staff.%' and type not in ('staff.looked', 'staff.searched')
          and user_id in (select id from users where ${isStaff})`,
      ];
      return Promise.all(parts.map(async (part) => (await part.execute(app.db)).rows));
    };
    const before = await read();
    let left = orders;
    const outcomes = new Map<string, number>();
    await runAtOnce(16, async () => {
      while (left-- > 0) {
        const [manager, name, target] = [pick(managers), pick(names), pick(everybody)];
        const role = pick(['admin', 'manager', 'user']);
        const outcome = await act(manager, name, target, name === 'people.setRole' ? { role } : {});
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    });
    expect(await read()).toEqual(before);
    expect([...outcomes.keys()].filter((outcome) => /^5|401/.test(outcome))).toEqual([]);
    // In the same time, the managers' permitted acts on customers succeeded.
    expect(outcomes.get('200')).toBeGreaterThan(orders / 40);
    expect(outcomes.get('403 not_allowed')).toBeGreaterThan(orders / 4);
  });
});

describe('administrators', () => {
  const rounds = byForm({ short: 12, long: 200 });
  it('leave one who can log in, when 16 at once demote, suspend and delete each other, in each of many rounds', {
    timeout: 180_000,
  }, async () => {
    await sql`update users set suspended_at = now() where role = 'admin'`.execute(app.db);
    const admins = [await addStaff('admin'), await addStaff('admin'), await addStaff('admin')];
    const ids = admins.map(({ id }) => id);
    const isOurs = sql`id = any(${ids}::uuid[])`;
    const harms = ['people.suspend', 'people.setRole', 'people.planDeletion', 'people.removeFactors'];
    // Each round begins with the same people and rights, so the same forms serve all rounds.
    const forms = new Map<string, object>();
    for (const name of harms)
      for (const target of admins) forms.set(name + target.id, await askFor(app, name, target));
    const tolls = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      await sql`with missing as (
          insert into authenticators (user_id, sealed_secret, last_step, added_at, last_used_at)
          select id, '\\x00', 0, now(), now() from users where ${isOurs} on conflict do nothing),
        fresh as (delete from rate_limits)
        update sessions set ended_at = null, auth_time = now() where id in (
          ${sql.join(admins.map(({ sessionId }) => sql`${sessionId}::uuid`))})`.execute(app.db);
      await sql`update users set role = 'admin', suspended_at = null, deletion_due_at = null, password_hash = ${hash}
        where ${isOurs}`.execute(app.db);
      const tries = Array.from({ length: 16 }, () => {
        const by = pick(admins);
        return { name: pick([...harms, 'own']), by, target: pick(admins.filter((each) => each !== by)) };
      });
      const outcomes = await runAtOnce(16, async (index) => {
        const { name, by, target } = tries[index] as (typeof tries)[number];
        if (name !== 'own')
          return readOutcome(
            await call(app, name, by.cookie, { ...forms.get(name + target.id), role: 'manager' }),
          );
        const { status } = await app.send('/profile/delete', {
          form: { intent: 'delete' },
          cookie: by.cookie,
        });
        return `own ${status}`;
      });
      for (const outcome of outcomes) tolls.set(outcome, (tolls.get(outcome) ?? 0) + 1);
      const { rows } = await sql`select from users where role = 'admin' and suspended_at is null
        and deletion_due_at is null and email_verified_at is not null and password_hash = ${hash}`.execute(
        app.db,
      );
      expect(rows.length, `in round ${round}: ${outcomes}`).toBeGreaterThan(0);
    }
    expect([...tolls.keys()].filter((outcome) => /(^|own )5/.test(outcome))).toEqual([]);
    // Some requests conflicted with each other.
    expect((tolls.get('own 409') ?? 0) + (tolls.get('409 edited_meanwhile') ?? 0)).toBeGreaterThan(0);
    expect(tolls.get('200')).toBeGreaterThan(rounds);
  });
});

describe('an act', () => {
  let admin: Member;
  beforeAll(async () => {
    admin = await addStaff('admin');
    await addStaff('admin');
  });

  /** Adds a person to whom staff can do the act. */
  async function arrange(name: string, given: Parameters<typeof addPerson>[1] = {}): Promise<Person> {
    const target = await addPerson(app, given);
    await actCases[name]?.arrange?.(app.db, target);
    return target;
  }
  const eventOf = (name: string) =>
    actCases[name]?.event ?? `staff.${actCases[name]?.intent.replaceAll('-', '_')}`;
  const addNote = sql`insert into staff_notes (id, user_id, text, at)
    select gen_random_uuid(), id, 'x', now() from users where id = `;

  it.each(names.filter((name) => name !== 'people.sendMail'))(
    'is done once, though 16 send the same form at once: %s',
    async (name) => {
      const target = await arrange(name);
      const form = await askFor(app, name, target);
      const outcomes = (
        await runAtOnce(16, async () => readOutcome(await call(app, name, admin.cookie, form)))
      ).sort();
      expect(outcomes).toEqual(['200', ...Array(15).fill('409 edited_meanwhile')]);
      expect(await countEvents(eventOf(name), target)).toBe(1);
    },
  );

  const changes: Record<string, ReturnType<typeof sql>> = {
    'people.suspend': sql`update users set suspended_at = now() where id = `,
    'people.freeze': sql`update users set suspended_at = now() where id = `,
    'people.resume': sql`update users set suspended_at = null where id = `,
    'people.endSession': sql`update sessions set ended_at = now() where user_id = `,
    'people.endSessions': sql`update sessions set ended_at = now() where user_id = `,
    'people.sendMail': sql`update users set email_verified_at = null where id = `,
    'people.removeFactors': sql`delete from authenticators where user_id = `,
    'people.decide': sql`update accounts set verified_here = true where id = `,
    'people.decideRights': sql`update accounts set verified_here = true where id = `,
    'people.addNote': addNote,
    'people.deleteNote': addNote,
    'people.setRole': sql`update users set role = 'admin' where id = `,
    'people.planDeletion': sql`update users set deletion_due_at = now() + interval '3 days' where id = `,
    'people.keep': sql`update users set deletion_due_at = deletion_due_at + interval '3 days' where id = `,
    'people.changeEmail': sql`update users set email = 'other-' || email where id = `,
    'people.thaw': sql`update users set frozen_at = frozen_at + interval '1 second' where id = `,
    'people.removeLink': sql`update external_links set external_id = external_id || 'x' where user_id = `,
  };

  it.each(names)(
    'of a form from before a change is 409, and does nothing: %s (contract 12.19)',
    async (name) => {
      const target = await arrange(name);
      const form = await askFor(app, name, target);
      await sql`${changes[name] ?? sql``}${target.id}`.execute(app.db);
      // The digest leaves out the audit events that say that staff viewed people.
      const before = await digestAll(app.db);
      expect(readOutcome(await call(app, name, admin.cookie, form))).toBe('409 edited_meanwhile');
      expect(await digestAll(app.db)).toEqual(before);
    },
  );

  // An act locks people in the order of their ids. A target with a low id is locked first, so the act waits for the target's
  // row.
  const earlyId = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  let early = 0;
  const ends: Record<string, (by: Member) => ReturnType<typeof sql>> = {
    'is logged out': ({ id }) => sql`update sessions set ended_at = now() where user_id = ${id}`,
    'is demoted': ({ id }) => sql`update users set role = 'user' where id = ${id}`,
    'is made a manager': ({ id }) => sql`update users set role = 'manager' where id = ${id}`,
    'is suspended': ({ id }) => sql`update users set suspended_at = now() where id = ${id}`,
    'is to be erased': ({ id }) => sql`update users set deletion_due_at = now() where id = ${id}`,
  };

  const untilWaiting = () =>
    expect
      .poll(
        async () =>
          (
            await sql`select from pg_stat_activity where datname = current_database()
              and wait_event_type = 'Lock' and query like '%for no key update%'`.execute(app.db)
          ).rows.length,
      )
      .toBeGreaterThan(0);

  /**
   * Locks the person in a transaction and sends the form, which has to wait. Then makes the change and ends the transaction.
   */
  async function actAcross(name: string, by: Member, target: Person, change: ReturnType<typeof sql>) {
    const form = await askFor(app, name, target);
    let sent: Promise<string> | undefined;
    await app.db.transaction().execute(async (trx) => {
      await sql`select from users where id = ${target.id} for update`.execute(trx);
      sent = call(app, name, by.cookie, form).then(readOutcome);
      await untilWaiting();
      await change.execute(app.db);
    });
    return sent;
  }

  it.each(Object.keys(ends))('does nothing if who acts %s in the middle', async (end) => {
    for (const name of ['people.setRole', 'people.planDeletion', 'people.thaw']) {
      const by = await addStaff('admin');
      const target = await arrange(name, { id: earlyId(++early) });
      const was = await actCases[name]?.look(app.db, target);
      const outcome = await actAcross(name, by, target, ends[end]?.(by) ?? sql``);
      expect(['401 login_required', '403 not_allowed'], `${name}: ${outcome}`).toContain(outcome);
      expect(await actCases[name]?.look(app.db, target)).toEqual(was);
      expect(await countEvents(eventOf(name), target)).toBe(0);
    }
  });

  it('by a manager does nothing to somebody who has become staff, or whose account has, in the middle', async () => {
    for (const name of ['people.suspend', 'people.removeFactors', 'people.decide']) {
      const by = await addStaff('manager');
      const target = await arrange(name, { id: earlyId(++early) });
      const was = await actCases[name]?.look(app.db, target);
      // The transaction that locks the target's row also makes the target a manager.
      const outcome = await actAcrossOwn(name, by, target);
      expect(outcome, name).toBe('403 not_allowed');
      expect(await actCases[name]?.look(app.db, target)).toEqual(was);
    }
    const by = await addStaff('manager');
    const target = await arrange('people.decide', { id: earlyId(++early) });
    const outcome = await actAcross(
      'people.decide',
      by,
      target,
      sql`insert into users (id, account_id, email, holds_email, name, role)
        values (gen_random_uuid(), ${target.accountId}, ${`joined-${early}@example.test`}, true, 'J', 'manager')`,
    );
    expect(outcome).toBe('403 not_allowed');
  });

  async function actAcrossOwn(name: string, by: Member, target: Person) {
    const form = await askFor(app, name, target);
    let sent: Promise<string> | undefined;
    await app.db.transaction().execute(async (trx) => {
      await sql`update users set role = 'manager' where id = ${target.id}`.execute(trx);
      sent = call(app, name, by.cookie, form).then(readOutcome);
      await untilWaiting();
    });
    return sent;
  }

  it('does nothing to somebody who comes into the account of who acts, in the middle', async () => {
    const by = await addStaff('admin');
    const target = await arrange('people.suspend', { id: earlyId(++early) });
    const form = await askFor(app, 'people.suspend', target);
    let sent: Promise<string> | undefined;
    await app.db.transaction().execute(async (trx) => {
      // Locks both accounts first, as the service does. In another order, this transaction and the act could deadlock.
      await sql`select from accounts where id in (${by.accountId}, ${target.accountId}) order by id
        for no key update`.execute(trx);
      await sql`update users set account_id = ${by.accountId} where id = ${target.id}`.execute(trx);
      sent = call(app, 'people.suspend', by.cookie, form).then(readOutcome);
      await untilWaiting();
    });
    expect(await sent).toBe('403 not_allowed');
    expect(await countEvents('staff.suspend', target)).toBe(0);
  });

  it('by a manager about an account finds the staff among 150 people', async () => {
    const by = await addStaff('manager');
    const target = await addPerson(app);
    await sql`insert into users (id, account_id, email, holds_email, name, role)
      select gen_random_uuid(), ${target.accountId}, 'crowd-' || n || '@example.test', true, 'Crowd', 'user'
      from generate_series(1, 150) n`.execute(app.db);
    await addPerson(app, {
      accountId: target.accountId,
      role: 'manager',
      id: 'ffffffff-ffff-4fff-bfff-ffffffffffff',
    });
    expect(await act(by, 'people.decide', target)).toBe('403 not_allowed');
  });

  it('takes no text that the database cannot keep (contract 12.17)', async () => {
    for (const [name, fields] of [
      ['people.removeLink', { externalId: 'x\u0000' }],
      ['people.suspend', { why: 'why\u0000' }],
      ['people.suspend', { seen: '\u0000' }],
      ['people.suspend', { id: '\u0000' }],
      ['people.decide', { what: '\u0000', decision: '\u0000' }],
      ['people.suspend', { why: `a\u2028b${why}` }],
      ['people.suspend', { why: `${why}\u202e` }],
      ['people.suspend', { why: '\ud800 why' }],
      ['people.suspend', { why: 'y'.repeat(501) }],
      ['people.suspend', { why: ' '.repeat(900) + 'y'.repeat(400) }],
      ['people.suspend', { why: ' y ' }],
    ] as const) {
      const outcome = await act(admin, name, await arrange(name), fields);
      expect(
        ['422 validation_failed', '404 not_found', '409 edited_meanwhile'],
        JSON.stringify(fields),
      ).toContain(outcome);
    }
    for (const input of [{ kind: '\u0000' }, { client: '\u0000' }, { kind: '\ud800' }])
      expect(readOutcome(await call(app, 'audit.list', admin.cookie, input, true))).toMatch(/^(200|422 .*)$/);
    const longest = `${'\u{1f469}'.repeat(500)}`;
    expect(await act(admin, 'people.suspend', await arrange('people.suspend'), { why: ` ${longest} ` })).toBe(
      '200',
    );
  });

  it('that gives a role excludes a hand-off that wakes the link: one is done, even if 16 come at once', async () => {
    for (let round = 0; round < 8; round++) {
      const target = await addPerson(app);
      const id = `link-${target.id}`;
      await sql`insert into external_links (provider, external_id, user_id, applied_profile_updated_at, sleeping_since)
        values ('marketplace', ${id}, ${target.id}, '2025-01-01', now())`.execute(app.db);
      const browser = openBrowser(app.send, (await addSession(app, target.id)).cookie);
      const url = await buildHandOff(app, { id, email: target.email, profileUpdatedAt: new Date() });
      const form = { ...(await askFor(app, 'people.setRole', target)), role: 'manager' };
      await runAtOnce(16, (index) =>
        index % 2 === 0
          ? call(app, 'people.setRole', admin.cookie, form)
          : openHandOff({ send: browser.send }, url),
      );
      const { rows } = await sql<{ role: string; sleeps: boolean }>`
        select u.role, l.sleeping_since is not null as sleeps
        from users u join external_links l on l.user_id = u.id where u.id = ${target.id}`.execute(app.db);
      expect(rows).toHaveLength(1);
      expect(rows[0]?.role === 'manager' && !rows[0].sleeps).toBe(false);
    }
  });

  it('and the erasure of its person leave no error, and nobody half erased', async () => {
    for (let round = 0; round < 5; round++) {
      const targets = await Promise.all(names.map((name) => arrange(name)));
      const forms = await Promise.all(
        names.map((name, index) => askFor(app, name, targets[index] as Person)),
      );
      const ids = targets.map(({ id }) => id);
      await sql`update users set suspended_at = null, frozen_at = null, deletion_due_at = now() - interval '1 day'
        where id = any(${ids}::uuid[])`.execute(app.db);
      const erase = () => eraseDueUsers(other.backend.deps);
      const [outcomes] = await Promise.all([
        Promise.all(
          names.map(async (name, index) => readOutcome(await call(app, name, admin.cookie, forms[index]))),
        ),
        erase(),
        erase(),
      ]);
      expect(outcomes.filter((outcome) => outcome.startsWith('5'))).toEqual([]);
      await erase();
      const { rows } = await sql`select role from users where id = any(${ids}::uuid[])
        and deletion_due_at < now() and suspended_at is null`.execute(app.db);
      expect(rows).toEqual([]);
    }
  });
});

describe('a caller who only knows the password', () => {
  it('gains nothing when support removes the factors: no waiting login, no session, no password (contract 12.26)', async () => {
    const manager = await addStaff('manager');
    const target = await addPerson(app, { passwordHash: hash });
    const before = await addSession(app, target.id);
    await addFactor(app.db, target);
    const browser = openBrowser(app.send);
    expect((await browser.login(target.email, password)).headers.get('location')).toMatch(/^\/login\/code/);
    expect(await act(manager, 'people.removeFactors', target)).toBe('200');
    expect((await app.send('/sso/profile', { cookie: before.cookie })).status).toBe(401);
    expect(
      (await browser.send('/login/code', { form: { code: '123456' } })).headers.getSetCookie().join(),
    ).not.toMatch(/identity_session=[^;]/);
    expect(await browser.whoAmI()).toBe(undefined);
    expect((await openBrowser(app.send).login(target.email, password)).status).not.toBe(303);
  });
});

describe('the password of staff alone', () => {
  const stale = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const next = 'eight louder lanterns';

  it('makes no session fresh: not by changing it, in a session that had the factor long ago', async () => {
    const target = await addPerson(app);
    for (const minutes of [11, 5]) {
      const person = await addPerson(app, { role: 'admin', passwordHash: hash });
      await addFactor(app.db, person);
      const { cookie } = await addSession(app, person.id, { authTime: stale(minutes) });
      const browser = openBrowser(app.send, cookie);
      const changed = await browser.send('/trpc/profile.changePassword', {
        json: { json: { currentPassword: password, newPassword: next } },
      });
      expect(changed.status).toBe(minutes > 10 ? 401 : 200);
      const { rows } = await sql<{ minutes: number }>`
        select extract(epoch from now() - auth_time)::float8 / 60 as minutes from sessions
        where user_id = ${person.id} and ended_at is null`.execute(app.db);
      expect(rows[0]?.minutes).toBeGreaterThan(minutes - 0.1);
      const form = { intent: 'password', currentPassword: password, newPassword: next };
      const posted = await browser.send('/profile/security', {
        form: { ...form, confirmPassword: password },
      });
      if (minutes > 10) {
        expect(posted.status).toBe(401);
        expect(
          readOutcome(
            await call(app, 'people.suspend', browser.cookie(), await askFor(app, 'people.suspend', target)),
          ),
        ).toBe('401 login_required');
      }
    }
  });
});

describe('a stolen session of staff', () => {
  const mailsOf = async (to: Person) =>
    (
      await sql<{ details: { who: string } }>`select details from mails
        where kind = 'staff_limited' and user_id = ${to.id}`.execute(app.db)
    ).rows.map(({ details }) => details.who);

  it('sees 300 people in an hour, even if 16 are asked for at once, and then the other administrators get a mail (contract 12.33 and 12.35)', async () => {
    await sql`update users set suspended_at = now() where role = 'admin'`.execute(app.db);
    const [thief, one, two] = [await addStaff('manager'), await addStaff('admin'), await addStaff('admin')];
    const people: Person[] = [];
    for (let times = 0; times < 320; times++) people.push(await addPerson(app));
    const look = (index: number) =>
      call(app, 'people.wouldGet', thief.cookie, { id: people[index]?.id }, true).then(readOutcome);
    for (let from = 0; from < 290; from += 29) await runAtOnce(29, (index) => look(from + index));
    const last = (await runAtOnce(16, (index) => look(290 + index))).sort();
    expect(last).toEqual([...Array(10).fill('200'), ...Array(6).fill('429 rate_limited')]);
    expect(await countEvents('staff.looked', thief)).toBe(300);
    // The thief may view people whom they have viewed before. The thief learns nothing about other people, not even by acts.
    expect(await look(0)).toBe('200');
    const target = people[319] as Person;
    expect(await act(thief, 'people.suspend', target)).toBe('429 rate_limited');
    const refused = await call(app, 'people.get', thief.cookie, { id: target.id }, true);
    expect(readOutcome(refused)).toBe('429 rate_limited');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const admin of [one, two]) expect(await mailsOf(admin)).toEqual([thief.id]);
    expect(await mailsOf(thief)).toEqual([]);
    expect(await countEvents('staff.limited', thief)).toBe(1);
  });

  it('searches 600 times in an hour, the audit among it, and the mail comes once a day (contract 12.33)', async () => {
    await sql`update users set suspended_at = now() where role = 'admin'`.execute(app.db);
    const [thief, other] = [await addStaff('admin'), await addStaff('admin')];
    const search = (index: number) =>
      call(
        app,
        index % 2 ? 'people.find' : 'audit.list',
        thief.cookie,
        index % 2 ? { q: 'zz', filters: {} } : { kind: 'none' },
        true,
      ).then(readOutcome);
    for (let from = 0; from < 592; from += 16) await runAtOnce(16, search);
    const last = (await runAtOnce(16, search)).sort();
    expect(last).toEqual([...Array(8).fill('200'), ...Array(8).fill('429 rate_limited')]);
    expect(await countEvents('staff.searched', thief)).toBe(600);
    await runAtOnce(16, search);
    expect(await mailsOf(other)).toEqual([thief.id]);
    const again = sql`update audit_events set at = at - interval '25 hours'
      where type = 'staff.limited' and actor_id = ${thief.id}`;
    await again.execute(app.db);
    await runAtOnce(16, search);
    expect(await mailsOf(other)).toEqual([thief.id, thief.id]);
  });

  it('sends five mails an hour to one person, with all of the staff together, and the sixth does nothing (contract 12.25)', async () => {
    const team = [await addStaff('manager'), await addStaff('admin'), await addStaff('manager')];
    const target = await addPerson(app);
    const form = await askFor(app, 'people.sendMail', target);
    const outcomes = await runAtOnce(16, async (index) =>
      readOutcome(await call(app, 'people.sendMail', team[index % 3]?.cookie ?? '', form)),
    );
    expect(outcomes.sort()).toEqual([...Array(5).fill('200'), ...Array(11).fill('429 rate_limited')]);
    const before = await digestAll(app.db);
    expect(await act(team[0] as Member, 'people.sendMail', target)).toBe('429 rate_limited');
    expect(await digestAll(app.db)).toEqual(before);
    expect(await countEvents('staff.send_mail', target)).toBe(5);
    const { rows } = await sql`select from mails where user_id = ${target.id}`.execute(app.db);
    expect(rows).toHaveLength(5);
    expect(await act(team[1] as Member, 'people.sendMail', await addPerson(app))).toBe('200');
  });
});

describe('hostile names', () => {
  const hostile = [
    '<img src=x onerror=alert(1)>',
    '=1+1',
    '@SUM(A1)',
    '\u202ednif ot\u202c',
    `e${'\u0301'.repeat(190)}`,
    '👩‍👩‍👧‍👦 "quoted"',
    '</script><script>alert(1)</script>',
  ];
  it.each(hostile)('stay data in what procedures answer and mails say: %j', async (name) => {
    const admin = await addStaff('admin');
    const target = await addPerson(app, { name });
    await sql`update accounts set name = ${name} where id = ${target.accountId}`.execute(app.db);
    const got = await call(app, 'people.get', admin.cookie, { id: target.id }, true);
    expect(got.headers.get('content-type')).toBe('application/json');
    expect(got.headers.get('x-content-type-options')).toBe('nosniff');
    expect(readData(got)).toMatchObject({ name, account: { name } });
    const would = readData(await call(app, 'people.wouldGet', admin.cookie, { id: target.id }, true));
    expect(would[0].payload.profile).toMatchObject({ name });
    const found = readData(
      await call(app, 'people.find', admin.cookie, { q: target.email, filters: {} }, true),
    );
    expect(found.people).toMatchObject([{ id: target.id, name, account: name }]);
    for (const each of ['people.suspend', 'people.resume', 'people.sendMail', 'people.setRole'])
      expect(await act(admin, each, target, { why: `Because ${hostile[0]} of =1+1 👩‍👩‍👧‍👦` }), each).toBe(
        '200',
      );
    const audit = readData(await call(app, 'audit.list', admin.cookie, { person: target.id }, true));
    expect(audit.people).toContainEqual({ id: target.id, name, email: target.email, role: 'manager' });
    expect(audit.events[0].why).toContain(hostile[0]);
    await sendDueMails(other.backend.deps, undefined, new AbortController().signal);
    await expect
      .poll(
        async () =>
          (await sql`select from mails where user_id = ${target.id} and kept_text is null`.execute(app.db))
            .rows.length,
      )
      .toBe(0);
    const { rows } = await sql<{ text: string }>`select to_jsonb(m)::text as text from mails m
      where user_id = ${target.id}`.execute(app.db);
    for (const { text } of rows) {
      expect(text).not.toContain('<img src=x');
      expect(text).not.toContain('<script>');
      expect(text).not.toContain('Because');
      expect(text).not.toContain(admin.email);
    }
  });
});

describe('the member of staff who acted, and the reason', () => {
  const secret = 'A reason that is for the audit only.';

  it('are not told to the person: not in the download, the activity or /trpc (contract 12.21 and 12.22)', async () => {
    const admin = await addStaff('admin');
    const target = await addPerson(app, { passwordHash: hash });
    for (const name of [
      'people.decide',
      'people.planDeletion',
      'people.endSessions',
      'people.suspend',
      'people.resume',
    ])
      await act(admin, name, target, { why: secret });
    const browser = await logIn(app.send, target.email, password);
    const texts = await Promise.all(
      ['/profile/data.json', '/profile/activity', '/trpc/activity.list'].map((path) => browser.send(path)),
    );
    for (const { status, text } of texts) {
      expect(status).toBe(200);
      for (const word of [secret, admin.id, admin.email, 'actor']) expect(text).not.toContain(word);
    }
  });

  it('are erased with the person, and the place they acted from is erased with the member of staff (contract 12.22)', async () => {
    const admin = await addStaff('admin');
    const [target, kept] = [await addPerson(app), await addPerson(app)];
    await call(app, 'people.find', admin.cookie, { q: 'x', filters: {} }, true);
    for (const person of [target, kept])
      for (const name of ['people.decide', 'people.planDeletion'])
        expect(await act(admin, name, person, { why: secret })).toBe('200');
    await sql`update users set role = 'user', deletion_due_at = now() - interval '1 day'
      where id in (${target.id}, ${admin.id})`.execute(app.db);
    await eraseDueUsers(other.backend.deps);
    const read = async (table: string, person: Person) =>
      (
        await sql<{ row: string }>`select to_jsonb(t)::text as row from ${sql.table(table)} t
          where to_jsonb(t)::text like ${`%${person.id}%`}`.execute(app.db)
      ).rows
        .map(({ row }) => row)
        .join('\n');
    for (const table of ['changes', 'audit_events']) {
      const rows = await read(table, target);
      expect(rows).not.toBe('');
      expect(rows).not.toContain(secret);
      expect(await read(table, kept)).toContain(secret);
    }
    const { rows } = await sql`select type from audit_events where actor_id = ${admin.id}
      and num_nonnulls(address, request_id, device, place) > 0`.execute(app.db);
    expect(rows).toEqual([]);
  });
});
