// Which changes move profile_updated_at, which only goes forward (contract 3.11).
import { type RawBuilder, sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
const merchant = sql`'01900000-0000-7000-8000-000000000001'::uuid`;
const account = sql`'01900000-0000-7000-8001-000000000001'::uuid`;
const otherAccount = sql`'01900000-0000-7000-8001-000000000003'::uuid`;

let cookie: string;
const app = shared(openApp);
beforeAll(async () => {
  cookie = await app.login(email);
});

const run = (statement: RawBuilder<unknown>) => statement.execute(app.db);

async function readUpdatedAt(id = merchant): Promise<number> {
  const { rows } = await sql<{ at: Date }>`
    select profile_updated_at as at from users where id = ${id}`.execute(app.db);
  return rows[0]?.at.getTime() ?? Number.NaN;
}

async function fetchUpdatedAt(): Promise<string> {
  return JSON.parse((await app.send('/sso/profile', { cookie })).text).profile_updated_at;
}

function expectStrictlyRising(instants: number[]): void {
  for (const [index, instant] of instants.entries())
    if (index > 0) expect(instant).toBeGreaterThan(instants[index - 1] ?? Number.NaN);
}

const changes: [string, RawBuilder<unknown>][] = [
  ['the name', sql`update users set name = 'Maya M.' where id = ${merchant}`],
  ['the e-mail address', sql`update users set email = 'maya@example.test' where id = ${merchant}`],
  ['the role', sql`update users set role = 'manager' where id = ${merchant}`],
  ["the account's name", sql`update accounts set name = 'Maya’s shop' where id = ${account}`],
  ['the capabilities', sql`update accounts set capabilities = '{sell_services}' where id = ${account}`],
  ['the capabilities to none', sql`update accounts set capabilities = '{}' where id = ${account}`],
  ['a verification that is withdrawn', sql`update accounts set verified_at = null where id = ${account}`],
  ['a verification that is given', sql`update accounts set verified_at = now() where id = ${account}`],
  ['the account', sql`update users set account_id = ${otherAccount} where id = ${merchant}`],
  ['the account back again', sql`update users set account_id = ${account} where id = ${merchant}`],
];

describe('profile_updated_at is strictly later after a change', () => {
  it.each(changes)('of %s', async (_what, change) => {
    const before = await fetchUpdatedAt();
    await run(change);
    const after = await fetchUpdatedAt();
    expect(after > before).toBe(true);
    expect(after).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('of either name by the owner', async () => {
    const { update } = openClient(app.send, cookie).profile;
    for (const input of [
      { name: 'Maya N.' },
      { accountName: 'Maya’s store' },
      { name: 'M', accountName: 'S' },
    ]) {
      const before = await fetchUpdatedAt();
      await update.mutate(input);
      expect((await fetchUpdatedAt()) > before).toBe(true);
    }
  });

  it('that undoes the previous one', async () => {
    const before = await readUpdatedAt();
    await run(sql`update users set name = 'Other' where id = ${merchant}`);
    await run(sql`update users set name = 'M' where id = ${merchant}`);
    expect(await readUpdatedAt()).toBeGreaterThanOrEqual(before + 2);
  });

  it('in the same millisecond as many others', async () => {
    const instants = await app.db.transaction().execute(async (trx) => {
      await sql`create temporary table seen (n int, at timestamptz) on commit drop`.execute(trx);
      await sql`do $$ begin
        for n in 1..200 loop
          update users set name = 'Maya ' || n where email = 'maya@example.test';
          insert into seen select n, profile_updated_at from users where email = 'maya@example.test';
        end loop; end $$`.execute(trx);
      const { rows } = await sql<{ at: Date }>`select at from seen order by n`.execute(trx);
      return rows.map(({ at }) => at.getTime());
    });
    expect(instants).toHaveLength(200);
    expectStrictlyRising(instants);
  });

  it('of user or account, when 50 of them come at once', async () => {
    const before = await readUpdatedAt();
    const instants = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const { rows } =
          n % 2 === 0
            ? await sql<{ at: Date }>`update users set name = ${`At once ${n}`} where id = ${merchant}
                returning profile_updated_at as at`.execute(app.db)
            : await app.db.transaction().execute(async (trx) => {
                await sql`update accounts set name = ${`At once ${n}`} where id = ${account}`.execute(trx);
                return sql<{ at: Date }>`
                  select profile_updated_at as at from users where id = ${merchant}`.execute(trx);
              });
        return rows[0]?.at.getTime() ?? Number.NaN;
      }),
    );
    expectStrictlyRising([before, ...instants.sort((a, b) => a - b)]);
    expect(await readUpdatedAt()).toBe(instants.at(-1));
  });

  it('of an account, for all of its users and nobody else', async () => {
    const manager = sql`'01900000-0000-7000-8000-000000000004'::uuid`;
    const admin = sql`'01900000-0000-7000-8000-000000000005'::uuid`;
    await run(sql`update users set account_id = ${account} where id = ${manager}`);
    const users = [merchant, manager, admin];
    const [before, managerBefore, adminBefore] = await Promise.all(users.map(readUpdatedAt));
    await run(sql`update accounts set name = 'All of us' where id = ${account}`);
    const [after, managerAfter, adminAfter] = await Promise.all(users.map(readUpdatedAt));
    expect(after).toBeGreaterThan(before ?? Number.NaN);
    expect(managerAfter).toBeGreaterThan(managerBefore ?? Number.NaN);
    expect(adminAfter).toBe(adminBefore);
  });

  it('even when the clock was set back', async () => {
    await run(sql`alter table users disable trigger users_keep_profile_updated_at`);
    await run(sql`update users set profile_updated_at = now() + interval '1 day' where id = ${merchant}`);
    await run(sql`alter table users enable trigger users_keep_profile_updated_at`);
    const instants = [await readUpdatedAt()];
    for (const change of [
      sql`update users set name = 'Tomorrow' where id = ${merchant}`,
      sql`update accounts set name = 'Tomorrow' where id = ${account}`,
    ]) {
      await run(change);
      instants.push(await readUpdatedAt());
    }
    expectStrictlyRising(instants);
  });
});

it.each([
  ['on its own', sql`update users set profile_updated_at = '2001-01-01' where id = ${merchant}`],
  [
    'by a millisecond',
    sql`update users set profile_updated_at = profile_updated_at - interval '1 ms'
    where id = ${merchant}`,
  ],
  [
    'together with a change',
    sql`update users set name = 'Back', profile_updated_at = '2001-01-01' where id = ${merchant}`,
  ],
  ['to nothing', sql`update users set profile_updated_at = null where id = ${merchant}`],
  ['to the end of time', sql`update users set profile_updated_at = 'infinity' where id = ${merchant}`],
])('profile_updated_at cannot be set by hand %s', async (_how, statement) => {
  const before = await readUpdatedAt();
  await run(statement);
  const after = await readUpdatedAt();
  expect(after).toBeGreaterThan(before);
  expect(after).toBeLessThanOrEqual(Math.max(Date.now(), before) + 1);
});

describe('profile_updated_at stays the same after', () => {
  it.each([
    ['an update that changes nothing', sql`update users set name = name, email = email, role = role`],
    [
      'an update of the account that changes nothing',
      sql`update accounts set name = name, capabilities = capabilities`,
    ],
    [
      'a suspension and its end',
      sql`do $$ begin
        update users set suspended_at = now(); update users set suspended_at = null; end $$`,
    ],
    ['another user’s change', sql`update users set name = 'Somebody' where email = 'admin@example.test'`],
    ['the verification of an address', sql`update users set email_verified_at = now()`],
    ['the end of sessions', sql`update sessions set ended_at = now() where ended_at is null`],
  ])('%s', async (_what, statement) => {
    const before = await readUpdatedAt();
    await run(statement);
    expect(await readUpdatedAt()).toBe(before);
  });

  it('a login, a logout, a password change, and an edit that keeps the names', async () => {
    const address = 'maya@example.test';
    const before = await readUpdatedAt();
    const here = await app.login(address);
    await app.send('/logout', { method: 'POST', cookie: await app.login(address) });
    const { profile } = openClient(app.send, here);
    const { name, accountName } = await profile.get.query();
    await profile.update.mutate({ name, accountName: ` ${accountName} ` });
    await profile.update.mutate({});
    const passwords = {
      currentPassword: 'local demo password',
      newPassword: 'quite another long password',
    };
    await profile.changePassword.mutate(passwords);
    expect(await readUpdatedAt()).toBe(before);
  });
});
